/** `annal record <patient> --at <time>`: prints a record as of a given time, rebuilt from its events. */
import { type RecordAt, recordAt, toCollection } from '#src/audit/record-at.ts';
import type { Displays } from '#src/clinical/summary/displays.ts';
import { isTableMissing } from '#src/database/failure.ts';
import { openPool } from '#src/database/pool.ts';
import type { EventStore } from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';
import { faultOfMoment, parseMoment } from '#src/shared/time/moment.ts';
import { nowMicros, toInstant, toMicros } from '#src/shared/time/time.ts';
import { readDisplays } from '#src/terminology/codes.ts';
import { withEventStore } from '../database.ts';
import { Failure, MISUNDERSTOOD } from '../failure.ts';
import { findBaseUrl, type ServiceOptions } from '../service.ts';
import { withDatabase } from '../stopped.ts';
import { counted, table } from '../table.ts';
import { reportBroken, withStream } from './patient.ts';
import { resolvePatient } from './patients.ts';
import { parsePosition } from './position.ts';
import { codesToName, resourceTitle } from './resource-title.ts';

/** The command-line options. */
export interface RecordOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly at?: string;
  /** Prints a `collection` Bundle instead of a table. */
  readonly json?: boolean;
}

/**
 * Rebuilds a record from its events and prints it.
 * @returns the exit code: 3 if the hash chain of the events that were read is broken.
 * @throws Failure if the time is invalid, in the future, or beyond the end of the stream or the log, if the record doesn't
 * exist or was purged, or if the database is unreachable.
 */
export async function recordCommand(
  patient: string,
  { at, json = false, ...where }: RecordOptions,
): Promise<number> {
  const moment =
    at === undefined ? { kind: 'time' as const, micros: Number.MAX_SAFE_INTEGER } : parseMoment(at);
  if (moment === undefined) {
    const expected =
      'expected a date (2026-03-01), a date-time with a time zone (2026-03-01T09:30:00Z), revision:N or position:N';
    throw new Failure(`--at ${at}: ${faultOfMoment(at ?? '') ?? expected}`, MISUNDERSTOOD);
  }
  if (at !== undefined && moment.kind === 'time') refuseFuture(at);
  const read = async (store: EventStore, stream: string): Promise<RecordAt> => {
    const head = await store.head();
    const last = moment.kind === 'position' ? parsePosition(moment.position, head) : undefined;
    if (last !== undefined && last > head) {
      throw new Failure(`--at ${at}: the log ends at position:${head}`);
    }
    return withStream(store, stream, (events) =>
      recordAt(events, moment, (event) => last !== undefined && event.position > last),
    );
  };
  const { id, record, displays } = await withDatabase(where, async ({ url }) => {
    const meant = await resolvePatient(url, patient);
    const found = await withEventStore(url, (store) => read(store, recordStream(meant)));
    return { id: meant, record: found, displays: json ? new Map() : await displaysIn(url, found) };
  });
  const stream = recordStream(id);
  if (record.events === 0) {
    throw new Failure(`Patient/${id} has no record${at === undefined ? '' : ` as of ${at}`}`);
  }
  if (moment.kind === 'revision' && record.revision !== undefined && record.revision < moment.revision) {
    throw new Failure(`--at ${at}: ${stream} ends at revision:${record.revision}`);
  }
  const shown = json
    ? toCollection(record, `${await findBaseUrl(where)}/fhir/R4`)
    : describe(id, record, at ?? 'now', displays);
  process.stdout.write(`${shown}\n`);
  return reportBroken(stream, record.brokenAt);
}

/**
 * Rejects a future time in `--at`; the current day is allowed.
 * @throws Failure
 */
export function refuseFuture(at: string): void {
  const begins = toMicros(at.includes('T') ? at : `${at}T00:00:00Z`);
  const now = nowMicros();
  if (begins > now) throw new Failure(`--at ${at} is in the future; it is now ${toInstant(now)}`);
}

/**
 * Looks up the names of a record's codes in the database's terminology.
 * @returns no names if the database has no terminology yet, because no service has been started on this copy
 */
async function displaysIn(url: string, { resources }: RecordAt): Promise<Displays> {
  const codes = codesToName([...resources.values()].flatMap(({ body }) => body ?? []));
  if (codes.length === 0) return new Map();
  const pool = openPool(url, { max: 1, name: 'annal record' });
  try {
    return await readDisplays(pool, codes);
  } catch (error) {
    if (isTableMissing(error)) return new Map();
    throw error;
  } finally {
    await pool.end();
  }
}

function describe(id: string, record: RecordAt, asked: string, displays: Displays): string {
  const all = [...record.resources.values()];
  const living = all.filter(({ body }) => body !== undefined);
  const rows = living.map(({ type, id: resource, version, recordedAt, body = '{}' }) => [
    type,
    resource,
    version,
    recordedAt,
    resourceTitle(type, body, displays),
  ]);
  const deleted = all.length - living.length;
  return [
    `Record of Patient/${id} as of ${asked}, last changed ${record.recordedAt}, from ${counted(record.events, 'event')}`,
    '',
    table(['Type', 'Id', 'Version', 'Since', 'Title'], rows),
    '',
    `${counted(living.length, 'resource')}${deleted > 0 ? `, and ${deleted} deleted` : ''}. --json prints them as a Bundle.`,
  ].join('\n');
}
