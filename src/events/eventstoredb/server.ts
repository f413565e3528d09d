/** Checks the server's version and settings. See `docs/eventstoredb.md`. */
import { z } from 'zod';
import { MAX_APPEND_BYTES, Unavailable } from '../store.ts';
import type { LogClient } from './client.ts';

/** The first supported version, by year and month; earlier ones can lose events in subscriptions. */
const FIRST = [24, 2] as const;

const options = z.array(z.object({ name: z.string(), value: z.string().nullish() }));

/**
 * Checks the server once, when the store is opened.
 * @throws Unavailable if the server is too old, or doesn't respond.
 */
export async function assertServer(
  client: LogClient,
  log?: { warn(details: object, message: string): void },
): Promise<void> {
  assertVersion(await client.version());
  const largest = await maxAppendBytes(client);
  if (largest === undefined || largest >= MAX_APPEND_BYTES) return;
  log?.warn(
    { max_append_size: largest },
    `EventStoreDB accepts appends of at most ${largest} bytes, so larger transactions return 413; set EVENTSTORE_MAX_APPEND_SIZE=16000000 on the server`,
  );
}

/**
 * Checks the server's version.
 * @param version as reported by the server, such as `24.2.0`; a version that can't be parsed is accepted.
 * @throws Unavailable
 */
export function assertVersion(version: string): void {
  const [, year, month] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  if (year === undefined || month === undefined) return;
  const newer = Number(year) - FIRST[0] || Number(month) - FIRST[1];
  if (newer < 0) throw new Unavailable(`EventStoreDB ${version} is too old; use 24.2 or later`);
}

/** Returns the largest append that the server accepts, in bytes; undefined if this user isn't allowed to read the setting. */
async function maxAppendBytes(client: LogClient): Promise<number | undefined> {
  const told = options.safeParse(await client.http('GET', '/info/options').catch(() => undefined));
  const size = Number(told.data?.find(({ name }) => name === 'MaxAppendSize')?.value ?? Number.NaN);
  return Number.isNaN(size) ? undefined : size;
}
