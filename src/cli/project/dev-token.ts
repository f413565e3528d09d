/** `annal dev-token --email ADDRESS | --patient WHO`: prints an ID token from the development issuer, for scripts. */
import { type Config, loadConfig } from '#src/config.ts';
import { openPool } from '#src/database/pool.ts';
import { DEV_TOKEN_S, DevIssuer } from '#src/dev-issuer/dev-issuer.ts';
import { emailSchema, findPerson, makeSubject, patientsToday } from '#src/dev-issuer/people.ts';
import { savedDevIssuer } from '#src/dev-issuer/store.ts';
import { requireDatabaseUrl } from '../database.ts';
import { Failure, MISUNDERSTOOD } from '../failure.ts';
import type { ServiceOptions } from '../service.ts';
import { findPatientByName } from './dev-patient.ts';

/** The command-line options: an e-mail address, or a synthetic patient. */
export interface DevTokenOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly email?: string;
  /** Number or name. */
  readonly patient?: string;
  readonly json?: boolean;
}

/**
 * Prints only the token and a line break; with `--json`, an object with `id_token`, `expires_in` in seconds, `issuer`,
 * `subject` and `email`.
 * @throws Failure if no person is given, if the service has no development issuer, or if the service can't be found.
 */
export async function devTokenCommand({ json = false, ...given }: DevTokenOptions): Promise<number> {
  const email = addressIn(given);
  const pool = openPool(await requireDatabaseUrl(given), { max: 1, name: 'annal dev-token' });
  try {
    const issuer = await savedDevIssuer(pool);
    if (issuer === undefined) {
      throw new Failure(
        'the development issuer is off: MODE is production, OIDC_ISSUERS is set, or other machines can reach the service (HOST, BASE_URL) and DEV_ISSUER is not allow',
      );
    }
    const token = await new DevIssuer(pool, issuer).idToken(findPerson(email));
    const described = {
      id_token: token,
      expires_in: DEV_TOKEN_S,
      issuer,
      subject: makeSubject(email),
      email,
    };
    process.stdout.write(`${json ? JSON.stringify(described, null, 2) : token}\n`);
    return 0;
  } finally {
    await pool.end();
  }
}

/**
 * Returns the e-mail address of the token's subject.
 * @throws Failure
 */
function addressIn({ email, patient }: DevTokenOptions): string {
  if ((email === undefined) === (patient === undefined)) {
    throw new Failure('annal dev-token needs either --email <address> or --patient <who>', MISUNDERSTOOD);
  }
  const { sandboxPatients } = settings();
  if (patient !== undefined) return findPatientByName(patient, patientsToday(sandboxPatients)).email;
  const address = emailSchema.safeParse(email);
  if (address.success) return address.data;
  throw new Failure(
    `--email ${address.error.issues[0]?.message ?? 'is not a valid e-mail address'}`,
    MISUNDERSTOOD,
  );
}

/**
 * Checks this process's settings, which are most likely the same as the service's.
 * @throws Failure if other issuers are configured
 */
function settings(): Pick<Config, 'sandboxPatients'> {
  const { mode, oidcIssuers, sandboxPatients } = loadConfig(process.env);
  if (mode === 'production') {
    throw new Failure(
      'the development issuer is off with MODE=production; sign in at one of the OIDC_ISSUERS',
    );
  }
  const [first] = oidcIssuers;
  if (first !== undefined) {
    throw new Failure(
      `the development issuer is off because OIDC_ISSUERS is set; sign in at ${first.issuer}`,
    );
  }
  return { sandboxPatients };
}
