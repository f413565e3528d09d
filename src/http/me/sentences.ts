/** Describes the rights that a grant gives, in the language that a person requests. */
import type { GrantRow } from '#queries/consents/grants.ts';
import { parseScopes } from '#src/oauth/scopes.ts';
import { fixedSentences, itemSentences } from '../oauth/authorize/sentences.ts';
import { chooseLanguage, texts } from '../pages/texts.ts';

/**
 * Returns the sentences that the person read, or the same sentences in another language.
 * @param lang undefined for the language of the consent; for an unknown language, English is used
 */
export function grantSentences(row: GrantRow, lang: string | undefined): readonly string[] {
  const { sentences, scopes: granted, application_name, expires_at } = row;
  if (lang === undefined || chooseLanguage(lang) === row.lang) return sentences;
  const parsed = parseScopes(granted.join(' '));
  if ('fault' in parsed) return sentences;
  const { scopes } = parsed;
  const say = texts(chooseLanguage(lang));
  const app = application_name ?? '';
  const own = row.granted_by === 'patient';
  return [
    ...itemSentences(say, scopes, own).map(({ sentence }) => sentence),
    ...fixedSentences(say, scopes, app),
    ...(scopes.includes('offline_access') ? [say('sentence.offline', { app })] : []),
    say('sentence.until', { day: say.day(expires_at / 1_000) }),
  ];
}
