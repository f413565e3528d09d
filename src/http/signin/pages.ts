/** Renders the sign-in pages: for choosing an issuer, for a failed sign-in, for being signed in, and for having signed out. */

import type { Session } from '#src/shared/access/session.ts';
import type { SignInFaultKind } from '#src/shared/access/sign-in-fault.ts';
import { html } from '#src/shared/html.ts';
import type { Texts } from '../pages/texts.ts';
import { FORM_TOKEN } from './form-origin.ts';
import type { PeoplePage } from './people-page.ts';

/** A link to sign in at one issuer. */
export interface Choice {
  readonly name: string;
  /** As it appears in the browser's requests. */
  readonly url: string;
}

/** Returns the page on which a person chooses between several issuers. */
export function chooserPage(say: Texts, choices: readonly Choice[]): PeoplePage {
  return {
    title: say('signin.title'),
    body: html`<p id="choose">${say('signin.choose')}</p>
<ul class="choices" aria-labelledby="choose">
${choices.map(
  ({ name, url }) => html`<li><a class="button second wide" href="${url}"><bdi>${name}</bdi></a></li>
`,
)}</ul>`,
  };
}

/** Returns the page for an installation where nobody can sign in. */
export function nobodyPage(say: Texts): PeoplePage {
  return { title: say('signin.none'), body: html`<p>${say('signin.nonetext')}</p>`, onward: ['start'] };
}

/** Returns the page for a sign-in URL that doesn't exist. */
export function unknownPage(say: Texts): PeoplePage {
  return {
    title: say('signin.unknown'),
    body: html`<p>${say('signin.unknowntext')}</p>`,
    onward: ['signin', 'start'],
  };
}

/**
 * Returns the page for a form that came from another site, or from a session that has ended.
 * @param page the page with the form, as the browser requests it; undefined if it can't be shown with GET
 */
export function formFaultPage(say: Texts, page?: string): PeoplePage {
  return {
    title: say('signin.formfault'),
    body: html`<p role="alert">${say('signin.formfaulttext')}</p>`,
    onward: page === undefined ? ['records'] : [{ url: page, text: say('way.page') }, 'records'],
  };
}

/** Facts about a failed sign-in. */
export interface Failed {
  readonly kind: SignInFaultKind;
  /** Name of the issuer. */
  readonly issuer: string;
  /** The link that starts the sign-in again. */
  readonly again: string;
  /** The request's id, for the operator. */
  readonly request: string;
}

/** Returns the page that says why the sign-in failed, with a link to try again. */
export function failedPage(say: Texts, { kind, issuer: name, again, request: id }: Failed): PeoplePage {
  const issuer = html`<bdi>${name}</bdi>`;
  const request = html`<bdi>${id}</bdi>`;
  const { title, text } = {
    not_begun: () => ({ title: say('signin.unfinished'), text: html`${say('signin.unfinishedtext')}` }),
    denied: () => ({ title: say('signin.denied'), text: say.html('signin.deniedtext', { issuer }) }),
    away: () => ({ title: say('signin.away'), text: say.html('signin.awaytext', { issuer }) }),
    not_fresh: () => ({ title: say('signin.notfresh'), text: say.html('signin.notfreshtext', { issuer }) }),
    refused: () => ({
      title: say('signin.refused'),
      text: say.html('signin.refusedtext', { issuer, request }),
    }),
  }[kind]();
  const link = kind === 'not_begun' ? say('signin.title') : say('signin.again');
  return {
    title,
    body: html`<p role="alert">${text}</p>
<p class="actions"><a class="button" href="${again}">${link}</a></p>`,
  };
}

/**
 * Returns the page for a person who is signed in, with a button to sign out.
 * @param action the form's target, as the browser requests it
 */
export function signedInPage(say: Texts, session: Session, action: string): PeoplePage {
  const { name, email, subject } = session.person;
  const person = html`<strong><bdi>${name ?? email ?? subject}</bdi></strong>`;
  const address =
    name === undefined || email === undefined
      ? html``
      : html` <span class="quiet">(<bdi>${email}</bdi>)</span>`;
  return {
    title: say('signin.in'),
    forms: ["'self'"],
    again: '/signin/out',
    body: html`<p>${say.html('signin.intext', { person: html`${person}${address}` })}</p>
<form method="post" action="${action}">
<input type="hidden" name="${FORM_TOKEN}" value="${session.formToken}">
<p class="actions"><button class="button second">${say('signin.signout')}</button></p>
</form>`,
  };
}

/**
 * Returns the page for a person who isn't signed in, or no longer is.
 * @param again the link to the sign-in
 */
export function signedOutPage(say: Texts, again: string): PeoplePage {
  return {
    title: say('signin.out'),
    again: '/signin/out',
    body: html`<p>${say('signin.outtext')}</p>
<p class="actions"><a class="button second" href="${again}">${say('signin.title')}</a></p>`,
  };
}
