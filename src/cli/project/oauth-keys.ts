/** `annal oauth-keys` lists the keys that sign ID tokens; `rotate` makes the next one. */
import { openPool } from '#src/database/pool.ts';
import { type SigningKeyRow, SigningKeys } from '#src/oauth/signing-keys.ts';
import { requireDatabaseUrl } from '../database.ts';
import { Failure, MISUNDERSTOOD } from '../failure.ts';
import type { ServiceOptions } from '../service.ts';
import { table } from '../table.ts';

/** The options on the command line. */
export interface OAuthKeysOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly json?: boolean;
  /** For a key that leaked: the new one signs at once, and no earlier one stays published. */
  readonly now?: boolean;
}

/**
 * Prints the keys, the newest first.
 * @param action `list` or `rotate`
 * @throws Failure for another action, and when the database cannot be found
 */
export async function oauthKeysCommand(
  action: string,
  { json = false, now = false, ...where }: OAuthKeysOptions,
): Promise<void> {
  if (action !== 'list' && action !== 'rotate')
    throw new Failure(`unknown action ${action}; use list or rotate`, MISUNDERSTOOD);
  if (now && action !== 'rotate') throw new Failure('--now needs rotate', MISUNDERSTOOD);
  const pool = openPool(await requireDatabaseUrl(where), { max: 1, name: 'annal oauth-keys' });
  try {
    const signing = new SigningKeys(pool);
    const keys = action === 'rotate' ? await signing.rotate({ now }) : await signing.list();
    process.stdout.write(`${json ? JSON.stringify(keys, null, 2) : describe(keys)}\n`);
  } finally {
    await pool.end();
  }
}

function describe(keys: readonly SigningKeyRow[]): string {
  if (keys.length === 0)
    return 'There are no keys yet; the first ID token, or the first request for the key set, creates one.';
  const rows = keys.map(({ kid, status, signsFrom, publishedUntil }) => [
    kid,
    status,
    signsFrom.toISOString(),
    publishedUntil?.toISOString() ?? '',
  ]);
  return table(['Key', 'Status', 'Signs from', 'Published until'], rows);
}
