/** Signs people in at the installation's issuers, and keeps their sessions (docs/spec/decisions.md, section 9). */
import { LRUCache } from 'lru-cache';
import type { CustomFetch } from 'openid-client';
import type pg from 'pg';
import { readIdentity } from '#src/identity/claims.ts';
import type { Identity } from '#src/shared/access/identity.ts';
import type { Session, SignInWish } from '#src/shared/access/session.ts';
import { SignInFault } from '#src/shared/access/sign-in-fault.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { type Begun, noteBegun, takeBegun } from './begun.ts';
import {
  awayIn,
  type Exchange,
  endedWith,
  type Proof,
  RelyingParty,
  type SignInAt,
  ssoKey,
  TOLERANCE_S,
} from './relying-party.ts';
import { derived, isSecret, newSecret } from './secrets.ts';
import { Sessions } from './sessions.ts';

/** The maximum length of an issuer's answer at the redirect URI, in characters. */
const MOST_CHARACTERS = 8_000;

/** The maximum number of organizations whose issuers' metadata is remembered. */
const MOST_ORGANIZATIONS = 200;

/** An installation's issuers and sessions. */
export class SignIn {
  readonly issuers: readonly { readonly key: string; readonly name: string }[];
  readonly sessions: Sessions;
  readonly #parties: ReadonlyMap<string, RelyingParty>;
  readonly #ofOrganizations = new LRUCache<string, RelyingParty>({ max: MOST_ORGANIZATIONS });

  constructor(
    readonly deps: {
      readonly client: Pick<pg.Pool, 'query'>;
      /** The service's URL, without a trailing slash. */
      readonly baseUrl: string;
      /** The installation's issuers. */
      readonly issuers: readonly SignInAt[];
      /**
       * Verifies an ID token: its signature, `iss`, `aud` and times.
       * @throws Refusal
       */
      readonly verify: (idToken: string) => Promise<Identity>;
      /**
       * Returns the issuer and client at which people with an e-mail domain, given in lower case, sign in according to an
       * organization's settings; undefined if there are no such settings.
       */
      readonly ssoOf: (
        domain: string,
      ) => Promise<{ readonly issuer: string; readonly client_id: string } | undefined>;
      /** Sends requests to organizations' issuers. */
      readonly ssoFetch: CustomFetch;
    },
  ) {
    const parties = deps.issuers.map((issuer) => new RelyingParty(issuer, deps.baseUrl));
    const names = deps.issuers.map(({ issuer }) => issuer);
    this.#parties = new Map(parties.map((party) => [party.key, party]));
    this.issuers = parties.map(({ key, at }) => ({ key, name: nameIssuer(at.issuer, names) }));
    this.sessions = new Sessions(deps.client, names);
  }

  /** Begins a sign-in; see the port for details. */
  async begin(key: string, wish: SignInWish, browser: string): Promise<string | undefined> {
    const party = this.#parties.get(key);
    return party && this.#begin(party, wish, browser, undefined);
  }

  /** Begins a sign-in at an organization's own issuer; see the port for details. */
  async beginSso(domain: string, wish: SignInWish, browser: string): Promise<string | undefined> {
    const found = await this.deps.ssoOf(domain);
    if (found === undefined) return undefined;
    const { issuer, client_id: clientId } = found;
    return this.#begin(this.#ofOrganization(issuer, clientId), wish, browser, clientId);
  }

  #ofOrganization(issuer: string, clientId: string): RelyingParty {
    const key = ssoKey(issuer, clientId);
    const known = this.#ofOrganizations.get(key);
    if (known !== undefined) return known;
    const made = new RelyingParty({ issuer, clientId, fetch: this.deps.ssoFetch }, this.deps.baseUrl, key);
    this.#ofOrganizations.set(key, made);
    return made;
  }

  async #begin(
    party: RelyingParty,
    wish: SignInWish,
    browser: string,
    ssoClient: string | undefined,
  ): Promise<string> {
    const { returnTo, prompt, loginHint, lang = 'en' } = wish;
    // A maximum age of the proof is requested too, because some issuers ignore `prompt`.
    const maxAge = prompt === 'login' ? 0 : wish.maxAge;
    const state = newSecret();
    try {
      const url = await party.authorizationUrl(deriveExchange(state, browser), {
        prompt,
        maxAge,
        loginHint,
        lang,
      });
      const begun = { issuer: party.at.issuer, returnTo, lang, maxAge, prompt, ssoClient };
      await noteBegun(this.deps.client, state, browser, begun);
      return url;
    } catch (error) {
      const away = awayIn(error);
      if (away === undefined) throw error;
      throw new SignInFault('away', away.message, { returnTo, lang, prompt, maxAge }, { cause: away });
    }
  }

  /** Completes a sign-in; see the port for details. */
  async complete(
    key: string,
    query: string,
    browser: string | undefined,
    earlier: string | undefined,
  ): Promise<{ readonly secret: string; readonly returnTo: string } | undefined> {
    const known = this.#parties.get(key);
    const state = stateIn(query);
    const begun =
      state !== undefined && isSecret(browser)
        ? await takeBegun(this.deps.client, state, browser)
        : undefined;
    if (state === undefined || begun === undefined || !isSecret(browser)) {
      if (known === undefined) return undefined;
      throw notBegun();
    }
    const { ssoClient } = begun;
    const party = ssoClient === undefined ? known : this.#ofOrganization(begun.issuer, ssoClient);
    // Each issuer has its own redirect URI, so an issuer can't present its answer as that of another issuer (RFC 9700, section
    // 4.4).
    if (party === undefined || party.key !== key || begun.issuer !== party.at.issuer)
      throw new SignInFault('refused', "the answer came to another issuer's redirect URI", begun);
    try {
      const proof = await party.exchange(query, deriveExchange(state, browser));
      const person = await this.#readPerson(party.at.issuer, proof, ssoClient);
      const authTime = provedAt(proof, begun);
      const secret = await this.sessions.start(person, authTime, earlier, ssoClient);
      return { secret, returnTo: begun.returnTo };
    } catch (error) {
      throw toSignInFault(error, begun);
    }
  }

  /** Returns the live session for a cookie's value; see the port for details. */
  session(secret: string): Promise<Session | undefined> {
    return this.sessions.find(secret);
  }

  /** Ends a session; see the port for details. */
  end(secret: string): Promise<void> {
    return this.sessions.end(secret);
  }

  /** Returns a new secret for a cookie. */
  newSecret(): string {
    return newSecret();
  }

  /** A token that only organizations trust can't sign anyone in at the installation's issuers, and vice versa. */
  async #readPerson(
    issuer: string,
    { idToken, further }: Proof,
    ssoClient: string | undefined,
  ): Promise<Identity> {
    const person = await this.deps.verify(idToken);
    if (person.issuer !== issuer || (person.organizations === undefined) !== (ssoClient === undefined))
      throw new TypeError('the ID token is from another issuer');
    const more = readIdentity(issuer, { ...further, sub: person.subject });
    const address = person.email === undefined ? more : person;
    const name = person.name ?? more.name;
    return {
      issuer,
      subject: person.subject,
      ...(address.email === undefined ? {} : { email: address.email }),
      emailVerified: address.emailVerified,
      ...(name === undefined ? {} : { name }),
    };
  }
}

/**
 * Nonce and verifier are derived from the browser's secret, so the database contains nothing with which a sign-in could be
 * completed.
 */
function deriveExchange(state: string, browser: string): Exchange {
  return {
    state,
    nonce: derived(browser, `nonce ${state}`),
    verifier: derived(browser, `verifier ${state}`),
  };
}

/** Returns an answer's `state`; undefined if it is missing, repeated, or not in the form that this service creates. */
function stateIn(query: string): string | undefined {
  if (query.length > MOST_CHARACTERS) return undefined;
  const [state, ...more] = new URLSearchParams(query).getAll('state');
  return more.length === 0 && isSecret(state) ? state : undefined;
}

function notBegun(): SignInFault {
  return new SignInFault(
    'not_begun',
    "this browser didn't start this sign-in, or the sign-in was already used or has expired",
  );
}

function toSignInFault(error: unknown, begun: Begun): SignInFault {
  const away = awayIn(error);
  if (away !== undefined) return new SignInFault('away', away.message, begun, { cause: error });
  if (error instanceof Refusal && error.kind === 'unavailable')
    return new SignInFault('away', 'the keys of the issuer can’t be fetched', begun, { cause: error });
  const ended = endedWith(error);
  if (ended === 'temporarily_unavailable' || ended === 'server_error')
    return new SignInFault('away', 'the issuer can’t sign people in now', begun, { cause: error });
  // Some issuers refuse this prompt; the person can also change the account by signing in again.
  if (ended === 'invalid_request' && begun.prompt === 'select_account')
    return new SignInFault(
      'denied',
      'the issuer refused the sign-in',
      { ...begun, prompt: 'login' },
      { cause: error },
    );
  if (ended !== undefined)
    return new SignInFault('denied', 'the issuer ended the sign-in', begun, { cause: error });
  if (error instanceof SignInFault) return error;
  const reason = error instanceof Error ? error.message : 'the answer could not be read';
  return new SignInFault('refused', reason, begun, { cause: error });
}

/**
 * Returns when the person proved their identity, in seconds.
 * @throws SignInFault not_fresh if that is too long ago, or if the issuer doesn't state it (OpenID Connect Core 1.0, section
 *   3.1.2.1, `max_age`)
 */
function provedAt({ authTime }: Proof, begun: Begun & { readonly age: number }): number | undefined {
  const now = Math.floor(Date.now() / 1000);
  const { maxAge, age } = begun;
  const isFresh =
    authTime !== undefined && maxAge !== undefined && authTime >= now - age - maxAge - TOLERANCE_S;
  if (maxAge !== undefined && !isFresh)
    throw new SignInFault(
      'not_fresh',
      authTime === undefined ? 'the ID token has no auth_time' : 'auth_time is older than max_age allows',
      begun,
    );
  return authTime === undefined ? undefined : Math.min(authTime, now);
}

/** Returns an issuer's name for people: its host, and also its path if another issuer has the same host. */
function nameIssuer(issuer: string, all: readonly string[]): string {
  const { host, pathname } = new URL(issuer);
  const isAlone = all.filter((other) => new URL(other).host === host).length === 1;
  return isAlone ? host : `${host}${pathname.replace(/\/+$/, '')}`;
}
