/** `annal parked` lists parked events, which a process couldn't handle; `--retry` retries them now. */
import { openPool } from '#src/database/pool.ts';
import { type ParkedEvent, ParkedEvents } from '#src/processes/parked.ts';
import { requireDatabaseUrl } from '../database.ts';
import { FAULTS_FOUND } from '../failure.ts';
import type { ServiceOptions } from '../service.ts';
import { table } from '../table.ts';

/** The command-line options. */
export interface ParkedOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly json?: boolean;
  /** Makes each event's next attempt due immediately. */
  readonly retry?: boolean;
}

/**
 * Lists parked events, oldest first.
 * @returns the exit code: 3 if there are parked events and they aren't being retried.
 * @throws Failure if the database can't be found.
 */
export async function parkedCommand({
  json = false,
  retry = false,
  ...where
}: ParkedOptions): Promise<number> {
  const pool = openPool(await requireDatabaseUrl(where), { max: 1, name: 'annal parked' });
  try {
    const events = new ParkedEvents(pool);
    if (retry) await events.hurry();
    const parked = await events.all();
    process.stdout.write(`${json ? JSON.stringify(parked, null, 2) : describe(parked, retry)}\n`);
    return parked.length === 0 || retry ? 0 : FAULTS_FOUND;
  } finally {
    await pool.end();
  }
}

function describe(parked: readonly ParkedEvent[], retry: boolean): string {
  if (parked.length === 0) return 'No event is parked.';
  const rows = parked.map(({ process, eventId, stream, revision, attempts, since, retryAt, error }) => [
    process,
    eventId,
    `${stream} revision ${revision}`,
    attempts,
    since.toISOString(),
    retryAt.toISOString(),
    error,
  ]);
  const listed = table(['Process', 'Event', 'Where', 'Tries', 'Since', 'Next try', 'Error'], rows);
  return retry ? `${listed}\n\nThe running service retries them within ten seconds.` : listed;
}
