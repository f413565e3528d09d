/** Renders the pages at an invitation's `url` (docs/spec/decisions.md, section 9, "Invitation"). */

import type { Session } from '#src/shared/access/session.ts';
import { type Html, html } from '#src/shared/html.ts';
import type { Texts } from '../pages/texts.ts';
import { FORM_TOKEN } from './form-origin.ts';
import type { PeoplePage } from './people-page.ts';

/** The parts of an invitation that a person sees who can redeem it. */
export interface Preview {
  /** The patient's given name; empty if the record has none. */
  readonly given: string;
  /** The name of the inviting project. */
  readonly project: string;
}

/**
 * Returns the page shown before sign-in. It shows nothing from the record.
 * @param signIn the link to the sign-in
 */
export function introPage(say: Texts, signIn: string): PeoplePage {
  return {
    title: say('invitation.title'),
    body: html`<p>${say('invitation.intro')}</p>
<p class="actions"><a class="button" href="${signIn}">${say('signin.title')}</a></p>`,
  };
}

/** The content of the page with the form. */
export interface Asking {
  readonly preview: Preview;
  readonly session: Session;
  /** The form's target, as it appears in the browser's requests. */
  readonly action: string;
  /** The link to sign in with another account. */
  readonly switchAccount: string;
  /** The input, and what is wrong with that input. */
  readonly entered?: { readonly birthDate: string; readonly fault: 'nodate' | 'wrong' };
}

/** Returns the page that asks for the birth date. */
export function birthDatePage(
  say: Texts,
  { preview, session, action, switchAccount, entered }: Asking,
): PeoplePage {
  const { name, email, subject } = session.person;
  const given = nameIn(say, preview);
  const person = html`<bdi>${name ?? email ?? subject}</bdi>`;
  const fault = entered === undefined ? undefined : say(`invitation.${entered.fault}`);
  const invalid = fault === undefined ? html`` : html` aria-invalid="true"`;
  const described = fault === undefined ? 'why' : 'fault why';
  return {
    title: say('invitation.heading', { given: preview.given || say('invitation.unnamed') }),
    heading: say.html('invitation.heading', { given }),
    forms: ["'self'"],
    body: html`<p>${say.html('invitation.from', { project: html`<strong><bdi>${preview.project}</bdi></strong>` })}</p>
<p class="quiet">${say.html('signin.intext', { person })} <a href="${switchAccount}">${say('invitation.switch')}</a></p>
${fault === undefined ? html`` : html`<p role="alert" id="fault">${fault}</p>`}
<form method="post" action="${action}" novalidate>
<input type="hidden" name="${FORM_TOKEN}" value="${session.formToken}">
<div class="field"><label for="birth_date">${say.html('invitation.birthdate', { given })}</label>
<p class="quiet small" id="why">${say('invitation.why')}</p>
<input id="birth_date" name="birth_date" type="date" required min="1850-01-01" value="${entered?.birthDate ?? ''}" aria-describedby="${described}"${invalid}></div>
<p class="actions"><button class="button">${say('invitation.connect')}</button></p>
</form>`,
  };
}

/**
 * Returns the page shown after the record has been linked.
 * @param record the link to the record's page
 */
export function linkedPage(say: Texts, preview: Preview, record: string): PeoplePage {
  return {
    title: say('invitation.done'),
    body: html`<p role="status">${say.html('invitation.donetext', { given: nameIn(say, preview) })}</p>
<p class="actions"><a class="button" href="${record}">${say('invitation.records')}</a></p>`,
  };
}

/**
 * Returns the page for every invitation that can't be redeemed. It doesn't reveal the reason, and asks for another code.
 * @param switchAccount the link to sign in with another account; undefined if the person isn't signed in
 * @param action the form's target
 */
export function gonePage(say: Texts, switchAccount: string | undefined, action: string): PeoplePage {
  const account = switchAccount === undefined ? [] : [{ url: switchAccount, text: say('invitation.switch') }];
  return {
    title: say('invitation.gone'),
    body: html`<p role="alert">${say('invitation.gonetext')}</p>
${codeForm(say, { action })}`,
    forms: ["'self'"],
    onward: [...account, 'records'],
  };
}

/**
 * Returns the page for a string that can't be an invitation's code. It asks for the code again.
 * @param action the form's target
 */
export function mistypedPage(say: Texts, code: string, action: string): PeoplePage {
  return {
    title: say('invitation.gone'),
    body: html`<p role="alert" id="fault">${say('invitation.mistyped')}</p>
${codeForm(say, { action, mistyped: code })}`,
    forms: ["'self'"],
    onward: ['records'],
  };
}

/**
 * Returns the form for entering an invitation's code.
 * @param action path of `/invitations`, as it appears in the browser's requests
 * @param mistyped a wrong code; the element `fault` says what is wrong
 */
export function codeForm(
  say: Texts,
  { action, mistyped }: { readonly action: string; readonly mistyped?: string },
): Html {
  const [value, wrong] =
    mistyped === undefined
      ? [html``, html``]
      : [html` value="${mistyped}"`, html` aria-invalid="true" aria-describedby="fault"`];
  return html`<form method="get" action="${action}" class="stack">
<input type="hidden" name="lang" value="${say.lang}">
<div class="field short"><label for="code">${say('home.code')}</label>
<input id="code" name="code"${value} required autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="64" dir="ltr"${wrong}></div>
<p class="buttons"><button class="button second small">${say('error.continue')}</button></p>
</form>`;
}

/** Returns the page for a record that already belongs to another person. */
export function takenPage(say: Texts, { project }: Preview): PeoplePage {
  const text = say.html('invitation.takentext', { project: html`<bdi>${project}</bdi>` });
  return { title: say('invitation.taken'), body: html`<p role="alert">${text}</p>`, onward: ['records'] };
}

/** Returns the page for a person who has tried too often. */
export function tooManyPage(say: Texts): PeoplePage {
  return {
    title: say('invitation.many'),
    body: html`<p role="alert">${say('invitation.manytext')}</p>`,
    onward: ['records'],
  };
}

function nameIn(say: Texts, { given }: Preview): Html {
  return html`<bdi>${given || say('invitation.unnamed')}</bdi>`;
}
