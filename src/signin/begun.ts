/** Sign-ins that have begun. Each is kept here for 15 minutes, and is valid for one answer from one issuer to one browser. */
import type pg from 'pg';
import type { SignInWish } from '#src/shared/access/session.ts';
import { secretHash } from './secrets.ts';

/** How long a person may take at the issuer, in seconds. */
export const SIGN_IN_S = 15 * 60;

/** A sign-in at an issuer that has not yet been answered. */
export interface Begun {
  readonly issuer: string;
  readonly returnTo: string;
  readonly lang: string;
  /** The maximum age that the proof of identity may have when the sign-in begins, in seconds; undefined for any age. */
  readonly maxAge: number | undefined;
  readonly prompt: SignInWish['prompt'];
  /** The client at an organization's issuer; undefined for an issuer of the installation. */
  readonly ssoClient: string | undefined;
}

type Client = Pick<pg.Pool, 'query'>;

/**
 * Stores a sign-in under its state.
 * @param browser the browser's secret
 */
export async function noteBegun(
  client: Client,
  state: string,
  browser: string,
  { issuer, returnTo, lang, maxAge, prompt, ssoClient }: Begun,
): Promise<void> {
  await client.query(
    `INSERT INTO operations.sign_in
       (state_sha256, browser_sha256, issuer, return_to, lang, max_age, prompt, sso_client, begun_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now(), now() + make_interval(secs => $9))`,
    [
      secretHash(state),
      secretHash(browser),
      issuer,
      returnTo,
      lang,
      maxAge ?? null,
      prompt ?? null,
      ssoClient ?? null,
      SIGN_IN_S,
    ],
  );
}

/**
 * Takes a sign-in, which is possible only once. A sign-in in another browser is left alone, so a person who was sent another
 * person's answer can't use it up.
 * @returns the sign-in, with the number of seconds since it began; undefined if it is unknown, used, expired or from another
 *   browser
 */
export async function takeBegun(
  client: Client,
  state: string,
  browser: string,
): Promise<(Begun & { readonly age: number }) | undefined> {
  const { rows } = await client.query<{
    issuer: string;
    return_to: string;
    lang: string;
    max_age: number | null;
    prompt: string | null;
    sso_client: string | null;
    age: number;
  }>(
    `DELETE FROM operations.sign_in
      WHERE state_sha256 = $1 AND browser_sha256 = $2 AND expires_at > now()
     RETURNING issuer, return_to, lang, max_age, prompt, sso_client,
       extract(epoch FROM now() - begun_at)::float8 AS age`,
    [secretHash(state), secretHash(browser)],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { issuer, return_to: returnTo, lang, max_age, sso_client, age } = row;
  const prompt = row.prompt === 'login' || row.prompt === 'select_account' ? row.prompt : undefined;
  const ssoClient = sso_client ?? undefined;
  return { issuer, returnTo, lang, maxAge: max_age ?? undefined, prompt, ssoClient, age };
}
