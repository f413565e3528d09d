/** `annal record <patient> --at <time>`: prints a record as of a moment, rebuilt from its events. */
import { toPosition } from '#src/events/postgres/position.ts';
import { StreamDeleted, Unavailable } from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';
import { isUuid } from '#src/shared/ids.ts';
import { databaseUrlOf, withEventStore } from './database.ts';
import { Failure } from './failure.ts';
import { parseMoment, type RecordAt, recordAt, toCollection } from './record-at.ts';
import type { ServiceOptions } from './service.ts';
import { table } from './table.ts';

/** What the command line says. */
export interface RecordOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly at?: string;
  /** Prints a `collection` Bundle instead of a table. */
  readonly json?: boolean;
}

/**
 * Rebuilds and prints a record.
 * @throws Failure for a moment that is none, a record that is not there or was purged, or a database that is away.
 */
export async function recordCommand(
  patient: string,
  { at, json = false, ...where }: RecordOptions,
): Promise<void> {
  const id = patient.replace(/^Patient\//, '');
  if (!isUuid(id)) throw new Failure(`${patient} is no patient's id`);
  const moment =
    at === undefined ? { kind: 'time' as const, micros: Number.MAX_SAFE_INTEGER } : parseMoment(at);
  if (moment === undefined) {
    throw new Failure(
      `--at ${at}: expected a date (2026-03-01), a date-time with an offset (2026-03-01T09:30:00Z), revision:N or position:N`,
    );
  }
  const stream = recordStream(id);
  const record = await withEventStore(await databaseUrlOf(where), (store) =>
    recordAt(store.read(stream), moment, (event, position) => event.position > toPosition(position)),
  ).catch((error: unknown) => {
    if (error instanceof StreamDeleted) throw new Failure(`the record of Patient/${id} was purged`);
    if (error instanceof Unavailable) throw new Failure(`the database cannot be reached: ${error.message}`);
    throw error;
  });
  if (record.events === 0) {
    throw new Failure(`Patient/${id} has no record${at === undefined ? '' : ` as of ${at}`}`);
  }
  process.stdout.write(`${json ? toCollection(record) : describe(id, record)}\n`);
}

function describe(id: string, record: RecordAt): string {
  const all = [...record.resources.values()];
  const living = all.filter(({ body }) => body !== undefined);
  const rows = living.map(({ type, id: resource, version, recordedAt }) => [
    type,
    resource,
    version,
    recordedAt,
  ]);
  const deleted = all.length - living.length;
  return [
    `Record of Patient/${id} as of ${record.recordedAt}, from ${record.events} events`,
    '',
    table(['Type', 'Id', 'Version', 'Since'], rows),
    '',
    `${living.length} resources${deleted > 0 ? `, and ${deleted} deleted` : ''}. --json prints them as a Bundle.`,
  ].join('\n');
}
