/** The consent page as people will see it, for developers: about nobody, and without a form that is sent. */
import type { Scope } from '#src/oauth/scopes.ts';
import { html } from '#src/shared/html.ts';
import { type PageNeeds, pageHeaders } from '../../answer/security-headers.ts';
import { shellNeeds } from '../../pages/shell.ts';
import type { Texts } from '../../pages/texts.ts';
import type { AskingClient, OfferedRecord } from '../../ports/authorize.ts';
import { firstChoice, grantDays, type Offer } from './choice.ts';
import { consentPage } from './consent-page.ts';
import { itemSentences } from './sentences.ts';

/** Somebody who doesn't exist. */
const PERSON = {
  issuer: '',
  subject: '',
  name: 'Alex Example',
  email: 'alex@example.org',
  emailVerified: true,
} as const;
const RECORD: OfferedRecord = {
  id: 'example',
  record: 'example',
  linkId: undefined,
  environment: 'sandbox',
  relationship: 'self',
  via: 'invitation',
  given: 'Alex',
  family: 'Example',
  birth_date: '1984-05-02',
  died: undefined,
  keeper: null,
  isMeant: false,
};
/** The page may show its own style and images that it contains; it runs no script and sends nothing. */
const NEEDS: PageNeeds = { ...shellNeeds(), referrer: 'no-referrer' };

/** The headers of the answer. */
export const PREVIEW_HEADERS = { ...pageHeaders(NEEDS), 'Content-Type': 'text/html; charset=utf-8' };

/**
 * Returns the page for an application.
 * @param scopes that people can allow
 * @param logo a `data:` URL: frames without an origin load no others
 */
export function previewPage(
  say: Texts,
  client: AskingClient,
  {
    scopes,
    logo,
    now,
  }: { readonly scopes: readonly Scope[]; readonly logo: string | undefined; readonly now: number },
): string {
  const offer: Offer = {
    records: [RECORD],
    asksOther: false,
    mayStart: true,
    items: itemSentences(say, scopes, true),
    days: grantDays(client),
    scopes,
  };
  const { 'Content-Security-Policy': policy = '' } = pageHeaders(NEEDS);
  return consentPage(say, {
    client,
    session: { person: PERSON, formToken: '' },
    purpose: undefined,
    redirectUri: client.redirectUris[0] ?? '',
    offer,
    choice: firstChoice(offer, PERSON.name),
    faults: [],
    handle: '',
    now,
    root: '',
    here: undefined,
    // Where a page shows it in a frame, no header comes with it. `frame-ancestors` is only known to headers.
    preview: {
      logo,
      head: html`<meta http-equiv="Content-Security-Policy" content="${policy.replace(/; frame-ancestors [^;]*/, '')}">
`,
    },
  });
}
