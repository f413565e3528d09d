/** Renders the part of the consent page that says who is asking, for what purpose, and as whom the person is signed in. */
import { type Html, html } from '#src/shared/html.ts';
import type { Texts } from '../../pages/texts.ts';
import { nameTarget } from './answer.ts';
import type { ConsentView } from './view.ts';

/**
 * Purposes for which the page has its own wording: plain words, and HL7's codes
 * (http://terminology.hl7.org/CodeSystem/v3-ActReason).
 */
const PURPOSES = [
  ['treatment', 'purpose.treatment'],
  ['treat', 'purpose.treatment'],
  ['care', 'purpose.treatment'],
  ['research', 'purpose.research'],
  ['hresch', 'purpose.research'],
  ['payment', 'purpose.payment'],
  ['hpaymt', 'purpose.payment'],
  ['public-health', 'purpose.publichealth'],
  ['pubhlth', 'purpose.publichealth'],
  ['personal', 'purpose.personal'],
  ['patient-request', 'purpose.personal'],
  ['patrqt', 'purpose.personal'],
] as const;

/**
 * Returns the part that says who is asking.
 * @param asked what the application requests, shown after its name
 */
export function askerPart(
  say: Texts,
  view: Pick<ConsentView, 'client' | 'session' | 'purpose' | 'handle' | 'root' | 'preview' | 'redirectUri'>,
  asked: Html,
): Html {
  const { client, session, handle, root } = view;
  const { environment } = client;
  const sandbox = environment === 'sandbox' ? html`<p class="note">${say('consent.sandbox')}</p>` : html``;
  const other = `${root}/oauth/consent?request=${handle}&account=other&lang=${say.lang}`;
  const leads = view.preview === undefined ? html` href="${other}"` : html``;
  const who = client.guest === undefined ? applicationPart(say, view) : guestPart(say, view, client.guest);
  return html`${who}${sandbox}${asked}
<dl class="facts">
<div><dt>${say('purpose.legend')}</dt><dd>${purposePart(say, view.purpose)}</dd></div>
<div><dt>${say('consent.privacylegend')}</dt><dd>${privacyPart(say, view)}</dd></div>
<div><dt>${say('consent.account')}</dt><dd>${say.html('consent.signedin', { person: renderPerson(session.person) })} <a${leads}>${say('consent.switch')}</a></dd></div>
</dl>`;
}

function applicationPart(say: Texts, view: Pick<ConsentView, 'client' | 'root' | 'preview'>): Html {
  const { name, organization } = view.client;
  const by = say.html('consent.by', { organization: html`<bdi>${organization.name}</bdi>` });
  return html`<div class="asker">
${logoPart(view)}
<div><p class="name"><bdi>${name}</bdi></p>
<p>${by} ${domainBadge(say, organization.domain)}</p></div>
</div>
${domainNote(say, organization.domain)}`;
}

/**
 * Returns the part about a guest: the guest's host and the response's destination, which are the only facts about a guest that
 * are certain.
 */
function guestPart(
  say: Texts,
  { redirectUri }: Pick<ConsentView, 'redirectUri'>,
  { host }: { readonly host: string },
): Html {
  const target = html`<bdi>${nameTarget(redirectUri)}</bdi>`;
  const goes = say.html(redirectUri.startsWith('http:') ? 'guest.local' : 'guest.target', { target });
  return html`<div class="asker">
<span class="logo" aria-hidden="true">?</span>
<div><p class="name"><bdi>${host}</bdi></p>
<p>${goes} ${guestBadge(say)}</p></div>
</div>
<p class="note warn">${say.html('guest.note', { host: html`<bdi>${host}</bdi>` })}</p>
`;
}

/** Returns the badge for an application that nobody has registered here. */
export function guestBadge(say: Texts): Html {
  return html`<span class="badge warn">${say('guest.unknown')}</span>`;
}

/** Returns the badge with an organization's confirmed domain. People can check the domain, but they can't check the name. */
export function domainBadge(say: Texts, domain: string | undefined): Html {
  if (domain === undefined) return html`<span class="badge warn">${say('consent.unconfirmed')}</span>`;
  const text = say.html('consent.confirmed', { domain: html`<bdi>${domain}</bdi>` });
  return html`<span class="badge good">${text}</span>`;
}

/** Returns the warning about an organization without a confirmed domain; empty if it has one. */
export function domainNote(say: Texts, domain: string | undefined): Html {
  return domain === undefined
    ? html`<p class="note warn">${say('consent.unconfirmednote')}</p>
`
    : html``;
}

/** Returns the logo, which the service stores itself, or the first letter of the name. */
function logoPart({
  client: { applicationId, branding, name },
  root,
  preview,
}: Pick<ConsentView, 'client' | 'root' | 'preview'>): Html {
  const { logo } = branding;
  if (logo === undefined)
    return html`<span class="logo" aria-hidden="true">${[...name.trim()][0] ?? ''}</span>`;
  const url = preview?.logo ?? `${root}/oauth/logos/${applicationId}/${logo.sha256}`;
  return html`<img class="logo" src="${url}" alt="" width="56" height="56">`;
}

function purposePart(say: Texts, purpose: string | undefined): Html {
  if (purpose === undefined) return html`${say('purpose.none')}`;
  const known = PURPOSES.find(([code]) => code === purpose.toLowerCase())?.[1];
  if (known === undefined) return say.html('purpose.own', { purpose: html`<bdi>${purpose}</bdi>` });
  return html`${say(known)}`;
}

function privacyPart(say: Texts, { client: { privacyUrl, name } }: Pick<ConsentView, 'client'>): Html {
  if (privacyUrl === undefined) return html`${say('consent.noprivacy')}`;
  const text = say.html('consent.privacy', {
    app: html`<bdi>${name}</bdi>`,
    host: html`<bdi>${new URL(privacyUrl).host}</bdi>`,
  });
  return html`<a href="${privacyUrl}" target="_blank" rel="noopener noreferrer">${text}</a>`;
}

function renderPerson({ name, email, subject }: ConsentView['session']['person']): Html {
  const address =
    name === undefined || email === undefined
      ? html``
      : html` <span class="whole">(<bdi>${email}</bdi>)</span>`;
  return html`<strong><bdi>${name ?? email ?? subject}</bdi></strong>${address}`;
}
