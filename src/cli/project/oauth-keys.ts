/** `annal oauth-keys` lists the keys that sign ID tokens; `rotate` creates the next one. */
import { openPool } from '#src/database/pool.ts';
import { type SigningKeyRow, SigningKeys } from '#src/oauth/signing-keys.ts';
import { requireDatabaseUrl } from '../database.ts';
import { Failure, MISUNDERSTOOD } from '../failure.ts';
import type { ServiceOptions } from '../service.ts';
import { table } from '../table.ts';

/** The command-line options. */
export interface OAuthKeysOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly json?: boolean;
  /** For a leaked key: the new key signs immediately, and no earlier key stays published. */
  readonly now?: boolean;
}

/**
 * Prints the keys, newest first.
 * @param action `list` or `rotate`
 * @throws Failure for any other action, or if the database can't be found
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
