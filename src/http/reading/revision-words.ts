/**
 * Describes in words what later versions changed in an entry, and when an entry was withdrawn. Each description includes what
 * the entry said before.
 */
import type { ClinicalEntry } from '#queries/rest/clinical-entries.ts';
import { reactionCause } from '#src/clinical/reading/allergies.ts';
import { dosesInWords } from '#src/clinical/reading/doses/dose.ts';
import type { Medicine } from '#src/clinical/reading/medicines.ts';
import { doseChangePhrases } from '#src/clinical/reading/phrases.ts';
import type { Revision, Statement, Withdrawal } from '#src/clinical/reading/revisions.ts';
import type { Withdrawn } from '#src/clinical/reading/status.ts';
import { objects, text } from '#src/fhir/parts.ts';
import type { Json } from '#src/shared/json/json.ts';
import { dayIn } from '#src/shared/time/day.ts';
import type { Texts } from '../pages/texts.ts';
import { dateText } from './day-text.ts';
import { elementLabel } from './element-words.ts';
import type { Known } from './known.ts';
import { codeWord, phraseText } from './known-words.ts';

/**
 * Returns an allergy's reactions in words, each with its severity and the substance that caused it.
 * @param allergy the allergy's name, which isn't repeated
 */
export function reactionsText(
  say: Texts,
  name: Known['name'],
  reactions: Json | undefined,
  allergy?: string,
): string {
  const said = objects(reactions).map((each) => {
    const cause = reactionCause(each, name, allergy);
    const words = [
      name(each.manifestation) ?? text(each.description),
      codeWord(say, 'severity', text(each.severity)),
    ].filter((part) => part !== undefined);
    return [cause, words.join(', ')].filter((part) => part !== undefined && part !== '').join(': ');
  });
  return say.list(said.filter((reaction) => reaction !== ''));
}

function statementText(say: Texts, name: Known['name'], stated: Statement | undefined): string {
  if (stated === undefined) return say('known.notsaid');
  if ('isForbidden' in stated) return say('known.forbidden');
  if ('text' in stated) return stated.text;
  if ('code' in stated) return codeWord(say, stated.set, stated.code) ?? stated.code;
  if ('reactions' in stated) return reactionsText(say, name, stated.reactions);
  const style = { lang: say.lang, day: (date: string) => dateText(say, date) };
  return dosesInWords(stated.doses, style) ?? say('known.notsaid');
}

/** Returns an element's name. The element `code` is called a description. */
function nameElement(say: Texts, element: string): string {
  return elementLabel(say, element === 'code' ? 'description' : element, '') ?? element;
}

/** Returns which elements were changed recently; undefined if none were. */
export function recentText(say: Texts, revisions: readonly Revision[]): string | undefined {
  const names = revisions.filter(({ isRecent }) => isRecent).map(({ element }) => nameElement(say, element));
  return names.length === 0 ? undefined : say('known.changedlately', { what: say.list([...new Set(names)]) });
}

/** Returns the latest changes, each with the day of the change and what the entry said before. */
export function revisionTexts(say: Texts, name: Known['name'], revisions: readonly Revision[]): string[] {
  const said = revisions.map(({ element, at, before, times }) => {
    const values = {
      what: nameElement(say, element),
      day: dateText(say, dayIn(at)),
      before: statementText(say, name, before),
      times,
    };
    return times === 1 ? say('known.revised', values) : say('known.revisedtimes', values);
  });
  return [...new Set(said)];
}

/**
 * Returns the text that says that the dosage changed recently, or that it may have changed because there is a newer entry or
 * another entry next to it; undefined if it didn't change.
 */
export function recentDoseText(
  say: Texts,
  { doseChange, hasNewDose }: Pick<Medicine, 'doseChange' | 'hasNewDose'>,
): string | undefined {
  if (hasNewDose) return say('known.dosebeside');
  if (doseChange?.isRecent !== true) return undefined;
  if (!doseChange.isCertain) return say('known.dosemaybe');
  return say('known.changedlately', { what: nameElement(say, 'dosage') });
}

/** Returns the previous dosage, which entry changed it, and when the previous dosage was prescribed or taken. */
export function doseChangeText(say: Texts, { name, doseChange }: Medicine): string | undefined {
  if (doseChange === undefined) return undefined;
  const { since, before } = doseChangePhrases(doseChange);
  const said = before.map(({ source, when }) => {
    const words = statementText(say, () => undefined, { doses: source.dosage ?? [] });
    const dated = when === undefined ? words : `${words}, ${phraseText(say, when)}`;
    return source.name === undefined || source.name.toLowerCase() === name?.toLowerCase()
      ? dated
      : `${source.name}: ${dated}`;
  });
  const values = { what: nameElement(say, 'dosage'), when: phraseText(say, since), before: said.join(' | ') };
  return say(doseChange.isCertain ? 'known.dosechanged' : 'known.doseearlier', values);
}

/**
 * Returns how an entry was withdrawn, and when: `ruled out since 12 May 2026`. If its first version already said so, the date
 * is when that version was recorded.
 */
export function withdrawnText(
  say: Texts,
  { value }: Pick<ClinicalEntry, 'value'>,
  as: Withdrawn,
  withdrawal: Withdrawal | undefined,
): string {
  const word = codeWord(say, 'verificationStatus', as === 'refuted' ? as : 'entered-in-error') ?? as;
  const date = withdrawal?.at ?? text(value.recordedDate);
  if (date === undefined) return word;
  const day = dateText(say, dayIn(date));
  if (withdrawal === undefined) return `${word}, ${say('known.recorded', { day })}`;
  return as === 'refuted'
    ? `${word} ${say('known.since', { day })}`
    : `${word}, ${say('known.withdrawnon', { day })}`;
}
