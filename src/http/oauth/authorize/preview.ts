/** Renders a preview of the consent page for developers. It isn't about a real person, and its form isn't sent. */
import type { Scope } from '#src/oauth/scopes.ts';
import { html } from '#src/shared/html.ts';
import { type PageNeeds, pageHeaders } from '../../answer/security-headers.ts';
import { shellNeeds } from '../../pages/shell.ts';
import type { Texts } from '../../pages/texts.ts';
import type { AskingClient, OfferedRecord } from '../../ports/authorize.ts';
import { firstChoice, grantDays, type Offer } from './choice.ts';
import { consentPage } from './consent-page.ts';
import { itemSentences } from './sentences.ts';

/** A made-up person. */
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
/** The page may use its own style and the images that it contains. It runs no scripts and sends nothing. */
const NEEDS: PageNeeds = { ...shellNeeds(), referrer: 'no-referrer' };

/** The headers of the response. */
export const PREVIEW_HEADERS = { ...pageHeaders(NEEDS), 'Content-Type': 'text/html; charset=utf-8' };

/**
 * Returns the page for an application.
 * @param scopes the scopes that people can allow
 * @param logo a `data:` URL, because frames without an origin load no other URLs
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
    // When another page shows the preview in a frame, the preview has no headers of its own, so its policy must be in the
    // HTML. `frame-ancestors` works only in headers.
    preview: {
      logo,
      head: html`<meta http-equiv="Content-Security-Policy" content="${policy.replace(/; frame-ancestors [^;]*/, '')}">
`,
    },
  });
}
