/** `annal dev-token --email ADDRESS`: prints an ID token of the development issuer, for scripts. */
import { z } from 'zod';
import { ConfigError, loadConfig } from '#src/config.ts';
import { openPool } from '#src/database/pool.ts';
import { DEV_TOKEN_S, DevIssuer } from '#src/identity/dev-issuer/dev-issuer.ts';
import { emailSchema, personOf, subjectOf } from '#src/identity/dev-issuer/people.ts';
import { notedDevIssuer } from '#src/operations/dev-issuer.ts';
import { databaseUrlOf } from './database.ts';
import { Failure, MISUNDERSTOOD } from './failure.ts';
import type { ServiceOptions } from './service.ts';

/** What the command line says. */
export interface DevTokenOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly email: string;
  readonly json?: boolean;
}

/**
 * Prints the token and a line break, nothing else; with `--json` an object of `id_token`, `expires_in` in seconds, `issuer`,
 * `subject` and `email`.
 * @throws Failure when the address is none, or the service has no development issuer or cannot be found.
 */
export async function devTokenCommand({
  email: given,
  json = false,
  ...where
}: DevTokenOptions): Promise<number> {
  const email = addressIn(given);
  refuseOtherIssuers();
  const pool = openPool(await databaseUrlOf(where), { max: 1, name: 'annal dev-token' });
  try {
    const issuer = await notedDevIssuer(pool);
    if (issuer === undefined) {
      throw new Failure(
        'the service has no development issuer: it runs with MODE=production, or OIDC_ISSUERS names its issuers; sign in there',
      );
    }
    const token = await new DevIssuer(pool, issuer).idToken(personOf(email));
    const described = { id_token: token, expires_in: DEV_TOKEN_S, issuer, subject: subjectOf(email), email };
    process.stdout.write(`${json ? JSON.stringify(described, null, 2) : token}\n`);
    return 0;
  } finally {
    await pool.end();
  }
}

function addressIn(given: string): string {
  try {
    return emailSchema.parse(given);
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    throw new Failure(`--email ${error.issues[0]?.message ?? 'cannot be read'}`, MISUNDERSTOOD);
  }
}

/** What stands in this environment is most likely what the service has as well. @throws Failure */
function refuseOtherIssuers(): void {
  try {
    const { mode, oidcIssuers } = loadConfig(process.env);
    if (mode === 'production') {
      throw new Failure('MODE=production has no development issuer: sign in at one of the OIDC_ISSUERS');
    }
    const [first] = oidcIssuers;
    if (first !== undefined) {
      throw new Failure(`OIDC_ISSUERS is set, so there is no development issuer: sign in at ${first.issuer}`);
    }
  } catch (error) {
    if (error instanceof ConfigError) throw new Failure(error.message);
    throw error;
  }
}
