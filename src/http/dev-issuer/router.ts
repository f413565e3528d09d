/**
 * Serves the development issuer under `/dev`: discovery, keys, a sign-in page, and the authorization code flow with PKCE for
 * dashboards on this machine (OpenID Connect Core 1.0, section 3.1; Discovery 1.0; RFC 6749; RFC 7636; RFC 9207).
 */
import Router from '@koa/router';
import type { Context } from 'koa';
import {
  AuthorizationFault,
  type AuthorizationRequest,
  readAuthorizationRequest,
  redirection,
} from '#src/dev-issuer/authorization.ts';
import { issueCode } from '#src/dev-issuer/codes.ts';
import type { DevIssuer } from '#src/dev-issuer/dev-issuer.ts';
import { discoveryDocument } from '#src/dev-issuer/discovery.ts';
import { emailSchema, findPerson, introduction, patientsToday } from '#src/dev-issuer/people.ts';
import { answerPage } from '../answer/security-headers.ts';
import { readForm } from '../form-body.ts';
import { requireDirect } from './direct.ts';

import { requireOwnForm, requireOwnHost } from './own-form.ts';
import { faultPage, pageNeeds, type SignIn, signInPage, tokenPage } from './page.ts';
import { answerToken } from './token.ts';

/**
 * Returns the routes.
 * @param baseUrl the service's URL, without a trailing slash
 * @param forwarded whether to answer requests that a proxy has forwarded
 */
export function devIssuerRouter(issuer: DevIssuer, baseUrl: string, forwarded: boolean): Router {
  const router = new Router();
  if (!forwarded) {
    router.use((ctx, next) => {
      requireDirect(ctx);
      return next();
    });
  }
  const home = `${new URL(baseUrl).pathname.replace(/\/+$/, '')}/dev`;
  /** The form for a sign-in without a client, which shows the token. */
  const alone: Form = { action: home, client: undefined };
  router.get('/dev/.well-known/openid-configuration', (ctx) => {
    ctx.body = discoveryDocument(issuer.issuer);
  });
  router.get('/dev/jwks', async (ctx) => {
    const keys = JSON.stringify(await issuer.jwks());
    ctx.type = 'application/jwk-set+json';
    ctx.body = keys;
  });
  router.get('/dev', (ctx) => {
    requireOwnHost(ctx, baseUrl);
    show(ctx, 200, { ...alone, ...offered(), email: '', fault: undefined });
  });
  router.post('/dev', async (ctx) => {
    const email = await signedIn(ctx, alone);
    if (email === undefined) return;
    const person = findPerson(email);
    const token = await issuer.idToken(person);
    const shown = tokenPage({ email, name: person.name, token, baseUrl, home });
    answerPage(ctx, 200, shown, pageNeeds(["'none'"]));
  });
  router.get('/dev/authorize', (ctx) => {
    requireOwnHost(ctx, baseUrl);
    const request = requested(ctx, baseUrl);
    if (request === undefined) return;
    show(
      ctx,
      200,
      { ...signInFor(ctx, home, request), ...offered(), email: request.loginHint ?? '', fault: undefined },
      request,
    );
  });
  router.post('/dev/authorize', async (ctx) => {
    const request = requested(ctx, baseUrl);
    if (request === undefined) return;
    const email = await signedIn(ctx, signInFor(ctx, home, request), request);
    if (email === undefined) return;
    const code = await issueCode(issuer, request, email);
    redirect(ctx, redirection(request, { code, iss: issuer.issuer }));
  });
  router.post('/dev/token', (ctx) => answerToken(issuer, ctx));
  return router;

  /** Returns the authorization request; undefined if it was refused and the response has been sent. */
  function requested(ctx: Context, url: string): AuthorizationRequest | undefined {
    try {
      return readAuthorizationRequest(new URLSearchParams(ctx.querystring), url);
    } catch (error) {
      if (!(error instanceof AuthorizationFault)) throw error;
      const { code, message, answerTo } = error;
      if (answerTo === undefined) answerPage(ctx, 400, faultPage(message, home), pageNeeds(["'none'"]));
      else {
        const outcome = { error: code, error_description: message, iss: issuer.issuer };
        redirect(ctx, redirection(answerTo, outcome));
      }
      return undefined;
    }
  }

  /** Returns the synthetic patients that the page offers. */
  function offered(): Pick<SignIn, 'patients'> {
    const patients = patientsToday(issuer.patients);
    return { patients: patients.map((patient) => ({ number: patient.number, says: introduction(patient) })) };
  }

  /** Returns the e-mail address in the form; undefined if there isn't one and the response has been sent. */
  async function signedIn(
    ctx: Context,
    form: Form,
    request?: AuthorizationRequest,
  ): Promise<string | undefined> {
    requireOwnHost(ctx, baseUrl);
    requireOwnForm(ctx, baseUrl);
    const named = whoIsNamed(await readForm(ctx), issuer.patients);
    if ('email' in named) return named.email;
    show(ctx, 422, { ...form, ...offered(), email: named.typed, fault: named.fault }, request);
    return undefined;
  }
}

type Form = Pick<SignIn, 'action' | 'client'>;

function signInFor(ctx: Context, home: string, request: AuthorizationRequest): Form {
  return { action: `${home}/authorize?${ctx.querystring}`, client: new URL(request.redirectUri).host };
}

/**
 * Returns the person that a form names, by e-mail address or by a synthetic patient's number; otherwise the fault and what was
 * entered.
 */
function whoIsNamed(
  form: URLSearchParams,
  patients: number,
): { readonly email: string } | { readonly typed: string; readonly fault: SignIn['fault'] } {
  const number = form.get('patient');
  const given = form.get('email') ?? '';
  const typed = given.slice(0, 254);
  if (number !== null) {
    if (form.getAll('patient').length > 1 || form.has('email')) {
      return { typed, fault: { says: 'Choose one person; the form names several.', ofField: false } };
    }
    const chosen = patientsToday(patients).find((patient) => patient.number === number);
    if (chosen !== undefined) return chosen;
    const says = `No synthetic patient ${number.slice(0, 40)} can sign in here.`;
    return { typed, fault: { says, ofField: false } };
  }
  const email = emailSchema.safeParse(given);
  if (email.success) return { email: email.data };
  const says = `The e-mail address ${email.error.issues[0]?.message ?? 'cannot be read'}.`;
  return { typed, fault: { says, ofField: true } };
}

function show(ctx: Context, status: number, signIn: SignIn, request?: AuthorizationRequest): void {
  // Browsers also apply the policy to the redirect that follows the form.
  const forms = request === undefined ? [] : [new URL(request.redirectUri).origin];
  answerPage(ctx, status, signInPage(signIn), pageNeeds(["'self'", ...forms]));
}

/** Redirects with 303, so that the browser uses GET after submitting a form (RFC 9700, section 4.12). */
function redirect(ctx: Context, target: string): void {
  ctx.status = 303;
  ctx.set({ Location: target, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
  ctx.body = '';
}
