/** Calls the admin interface as one person who is signed in at the development issuer. */
import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { DevIssuer, devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import { findPerson, makeSubject } from '#src/dev-issuer/people.ts';
import { runCommand } from './cli.ts';
import { eventually } from './process.ts';
import { Answer } from './service.ts';

/** The parts of responses that tests read. A member that isn't in the response is undefined. */
export interface AdminJson {
  readonly [name: string]: unknown;
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly email: string;
  readonly key: string;
  readonly last4: string;
  readonly revoked_at: string | null;
  readonly client_id: string;
  readonly client_secret: string;
  readonly data: readonly AdminJson[];
  readonly total: number;
  readonly next_cursor: string | null;
  readonly project: AdminJson;
  readonly organization: AdminJson;
}

/** A person who calls the admin interface. */
export interface AdminUser {
  readonly email: string;
  readonly issuer: string;
  readonly subject: string;
  readonly token: string;
  /**
   * Sends a request.
   * @param path below `/admin`, with a leading slash
   */
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /**
   * Sends a request like `ask`.
   * @returns the response's JSON
   * @throws Error if the status is not 2xx
   */
  done(method: string, path: string, body?: unknown): Promise<AdminJson>;
}

/** Returns a domain that no organization uses yet, even if earlier tests used the same log. */
export function newDomain(name: string): string {
  return `${name}-${randomBytes(4).toString('hex')}.example`;
}

/** Marks an application as trusted, as the operator does, and waits until that is visible. */
export async function trust(
  { databaseUrl, pool }: { readonly databaseUrl: string; readonly pool: Pool },
  application: string,
): Promise<void> {
  const { code, stderr } = await runCommand(['applications', 'trust', application], {
    DATABASE_URL: databaseUrl,
  });
  if (code !== 0) throw new Error(stderr);
  await eventually(async () => {
    const sql = 'select trusted from projects.application where id = $1';
    return (await pool.query<{ trusted: boolean }>(sql, [application])).rows[0]?.trusted === true;
  });
}

/** Signs a person in at a service's development issuer. */
export async function signIn(
  service: { readonly url: string; readonly pool: Pool },
  email: string,
): Promise<AdminUser> {
  const issuer = devIssuerUrl(service.url);
  const token = await new DevIssuer(service.pool, issuer).idToken(findPerson(email));
  return withToken(service.url, token, { email, issuer, subject: makeSubject(email) });
}

/** Returns a person with an ID token from any issuer. */
export function withToken(
  url: string,
  token: string,
  who: Pick<AdminUser, 'email' | 'issuer' | 'subject'>,
): AdminUser {
  const ask: AdminUser['ask'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${url}/admin${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(120_000),
    });
    return new Answer(response.status, response.headers, await response.text());
  };
  return {
    ...who,
    token,
    ask,
    async done(method, path, body) {
      const answer = await ask(method, path, body);
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer}`);
      return answer.text === '' ? undefined : JSON.parse(answer.text);
    },
  };
}
