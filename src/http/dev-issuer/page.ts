/** Renders the development issuer's pages: text and forms, without scripts or anything from other sites (WCAG 2.2 AA). */
import { READY_PEOPLE } from '#src/dev-issuer/people.ts';
import { Html, html } from '#src/shared/html.ts';
import { inlineSource, type PageNeeds } from '../answer/security-headers.ts';

const STYLE = `
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0; background: Canvas; color: CanvasText; }
a { color: inherit; }
main { max-width: 34rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.5rem; line-height: 1.2; }
label { display: block; font-weight: 600; }
input, textarea { font: inherit; box-sizing: border-box; width: 100%; padding: 0.5rem; margin: 0.25rem 0 0.75rem; }
textarea { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
button { font: inherit; padding: 0.5rem 1rem; cursor: pointer; text-align: start; }
li { margin: 0.5rem 0; }
ul { list-style: none; padding: 0; }
[role=alert] { border-left: 0.25rem solid; padding-left: 0.75rem; font-weight: 600; }
:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
`;

/**
 * Returns what the pages need from the security headers.
 * @param forms targets of the sign-in form, including a client's redirect_uri
 */
export function pageNeeds(forms: readonly string[]): PageNeeds {
  return { styles: [inlineSource(STYLE)], forms };
}

function page(title: string, body: Html): string {
  const whole = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Annal, development</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
  return whole.text;
}

/** A synthetic patient on the sign-in page. */
export interface Choice {
  /** The patient's number in the register. */
  readonly number: string;
  /** A description of the person. */
  readonly says: string;
}

/** The content of the sign-in page. */
export interface SignIn {
  /** The form's target: a path with its query. */
  readonly action: string;
  /** The client that requests the sign-in; undefined if the token will only be shown. */
  readonly client: string | undefined;
  /** Synthetic patients to choose from. */
  readonly patients: readonly Choice[];
  /** Content of the e-mail field. */
  readonly email: string;
  /** The error in what was entered, and whether the error concerns the field. */
  readonly fault: { readonly says: string; readonly ofField: boolean } | undefined;
}

/** Returns the sign-in page. */
export function signInPage({ action, client, patients, email, fault }: SignIn): string {
  const outcome =
    client === undefined
      ? html`You get an ID token to copy, which works for one hour.`
      : html`You continue to <strong>${client}</strong>.`;
  const alert = fault === undefined ? html`` : html`<p role="alert" id="fault">${fault.says}</p>`;
  const described = fault?.ofField !== true ? html`` : html` aria-invalid="true" aria-describedby="fault"`;
  const people = READY_PEOPLE.map(
    (person) =>
      html`<li><button type="submit" name="email" value="${person.email}">${person.name ?? person.email} (${person.email})</button></li>
`,
  );
  return page(
    'Sign in',
    html`<p>This is the development issuer. It is for tests, and does not exist in production.
It doesn’t ask for a password: anyone can sign in with any e-mail address. ${outcome}</p>
${alert}
<form method="post" action="${action}">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="email" required maxlength="254" value="${email}"${described}>
<button type="submit">Sign in</button>
</form>
<h2>Or as one of these</h2>
<p>The first owns the organization whose project has the key in <code>quickstart.json</code>.</p>
<form method="post" action="${action}">
<ul>
${people}</ul>
</form>
${patientsPart(action, patients)}`,
  );
}

function patientsPart(action: string, patients: readonly Choice[]): Html {
  if (patients.length === 0) return html``;
  const choices = patients.map(
    ({
      number,
      says,
    }) => html`<li><button type="submit" name="patient" value="${number}">${number} · ${says}</button></li>
`,
  );
  return html`<h2>Or as a synthetic patient</h2>
<p>Every sandbox has a copy of them. They are members of no organization: <code>/admin</code> shows them nothing.</p>
<form method="post" action="${action}">
<ul>
${choices}</ul>
</form>`;
}

/** The content of the page that shows a token. */
export interface Shown {
  readonly email: string;
  readonly name: string | undefined;
  readonly token: string;
  /** The service's base URL. */
  readonly baseUrl: string;
  /** Path of the sign-in page. */
  readonly home: string;
}

/** Returns the page that shows an ID token. */
export function tokenPage({ email, name, token, baseUrl, home }: Shown): string {
  const called = name === undefined ? '' : ` (${name})`;
  return page(
    'Your ID token',
    html`<p>You are signed in as <strong>${email}</strong>${called}. The token works for one hour.</p>
<label for="token">ID token</label>
<textarea id="token" rows="8" readonly>${token}</textarea>
<p>Send it as <code>Authorization: Bearer</code> to <code>${baseUrl}/admin</code>: <code>POST
${baseUrl}/admin/sandbox/quickstart</code> gives you a project with a key, <a href="/docs">the documentation</a> has the
rest. In a clone, <code>npm run -s annal -- dev-token --email ${email}</code> prints such a token, too.</p>
<p><a href="${home}">Sign in as another person</a></p>`,
  );
}

/**
 * Returns the page for a faulty request whose fault can't be reported to a client.
 * @param home path of the sign-in page
 */
export function faultPage(message: string, home: string): string {
  return page(
    'This request can’t be completed',
    html`<p role="alert">${message}</p>
<p>Go back to the application and start there again, or <a href="${home}">sign in without it</a>.</p>`,
  );
}
