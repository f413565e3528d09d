/** `annal access-log`: lists who read the data of which patients; can be limited by patient, application, key and time. */
import { once } from 'node:events';
import type { Pool, PoolClient } from 'pg';
import { type AccessRow, namedEntries } from '#queries/access-log.ts';
import { openPool } from '#src/database/pool.ts';
import { parsePeriod } from '#src/fhir/search/period.ts';
import { type Micros, toInstant } from '#src/shared/time/time.ts';
import { Failure, MISUNDERSTOOD } from '../failure.ts';
import type { ServiceOptions } from '../service.ts';
import { withDatabase } from '../stopped.ts';
import { counted, table, withoutEmpty } from '../table.ts';
import { applicationNamed } from './grants.ts';
import { resolvePatient } from './patients.ts';

/** The command-line options. */
export interface AccessLogOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly json?: boolean;
  /** The application's id or client id. */
  readonly application?: string;
  /** An API key's id. */
  readonly key?: string;
  /** A year, month, day or date-time: `from` means its beginning, `to` its end. */
  readonly from?: string;
  readonly to?: string;
  /** Prints one line per patient instead of one per entry. */
  readonly patients?: boolean;
}

/** The conditions for selecting entries. */
interface Asked {
  readonly record: string | undefined;
  readonly actor: string | undefined;
  readonly from: Micros | undefined;
  readonly to: Micros | undefined;
}

/** The number of entries that are read at a time. */
const PAGE = 2_000;
/** The maximum number of entries in the table. */
const SHOWN = 1_000;

/**
 * Prints entries, newest first, or the patients that the entries are about.
 * @param patient words from a name, an identifier or an id; empty for all patients
 * @returns the exit code
 * @throws Failure without a condition, for an unknown patient, application or key, or for an invalid time
 */
export async function accessLogCommand(patient: string, options: AccessLogOptions): Promise<number> {
  const { json = false, patients = false, application, key, from, to, ...where } = options;
  if (patient === '' && [application, key, from, to].every((each) => each === undefined)) {
    const message = 'name a patient, --application, --key, --from or --to: annal access-log mira sand';
    throw new Failure(message, MISUNDERSTOOD);
  }
  if (application !== undefined && key !== undefined)
    throw new Failure('name either --application or --key', MISUNDERSTOOD);
  const period = { from: parseSpan('--from', from)?.from, to: parseSpan('--to', to)?.to };
  if (period.from !== undefined && period.to !== undefined && period.from >= period.to)
    throw new Failure('--from must not be after --to', MISUNDERSTOOD);
  await withDatabase(where, async ({ url }) => {
    const record = patient === '' ? undefined : await resolvePatient(url, patient);
    const pool = openPool(url, { max: 1, name: 'annal access log', answerMs: 0 });
    try {
      const actor = await findActor(pool, application, key);
      const entries = readEntries(pool, { record, actor, ...period });
      if (patients) await printPatients(entries, json);
      else await (json ? printJson(entries) : printTable(entries));
    } finally {
      await pool.end();
    }
  });
  return 0;
}

/** @throws Failure if the text isn't a year, month, date or date-time */
function parseSpan(option: string, text: string | undefined): { from: Micros; to: Micros } | undefined {
  if (text === undefined) return undefined;
  const period = parsePeriod(text);
  if (period !== undefined) return period;
  const expected = 'expected a year, a month (2026-03), a date (2026-03-01) or a date-time with a time zone';
  throw new Failure(`${option} ${text}: ${expected}`, MISUNDERSTOOD);
}

/** @throws Failure for an unknown application or key */
async function findActor(pool: Pool, application?: string, key?: string): Promise<string | undefined> {
  if (application !== undefined) return applicationNamed(pool, application);
  if (key === undefined) return undefined;
  const { rowCount } = await pool.query('select from projects.api_key where key_id = $1', [key]);
  if (rowCount === 0) throw new Failure(`unknown key ${key}: no API key has this id`);
  return key;
}

/** Yields entries in portions, newest first, all as of the same moment. Indexes: see `ACCESS_LOG_SQL`. */
async function* readEntries(pool: Pool, asked: Asked): AsyncGenerator<readonly AccessRow[]> {
  const values: (string | number)[] = [];
  const conditions: string[] = [];
  const meet = (condition: string, value: string | number | undefined): void => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(condition.replace('?', `$${values.length}`));
  };
  meet('x.record = ?::uuid', asked.record);
  meet('x.actor_id = ?', asked.actor);
  meet('x.at >= ?::int8', asked.from);
  meet('x.at < ?::int8', asked.to);
  const rows = `(select x.* from operations.access_entry x where ${conditions.join(' and ')})`;
  const client: PoolClient = await pool.connect();
  try {
    await client.query('begin isolation level repeatable read');
    const order = 'order by e.at desc, e.record desc, e.seq desc';
    await client.query(`declare entries no scroll cursor for ${namedEntries(rows)} ${order}`, values);
    for (;;) {
      const part = await client.query<AccessRow>(`fetch ${PAGE} from entries`);
      if (part.rows.length === 0) break;
      yield part.rows;
    }
  } finally {
    await client.query('rollback').catch(() => undefined);
    client.release();
  }
}

const actorReference = ({ actor_kind: kind, actor_id: id }: AccessRow): string => `${kind}/${id}`;

const print = async (text: string): Promise<void> => {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
};

/** Prints every entry as JSON while further entries are being read. */
async function printJson(entries: AsyncIterable<readonly AccessRow[]>): Promise<void> {
  let total = 0;
  await print('{"data":[');
  for await (const part of entries) {
    const lines = part.map((entry) => {
      const { at, actor_kind: _kind, actor_id: _id, seq, ...row } = entry;
      return JSON.stringify({ ...row, entry: seq, ts: toInstant(at), actor_ref: actorReference(entry) });
    });
    await print(`${total === 0 ? '\n' : ',\n'}${lines.join(',\n')}`);
    total += part.length;
  }
  await print(`\n],"total":${total}}\n`);
}

async function printTable(entries: AsyncIterable<readonly AccessRow[]>): Promise<void> {
  const rows: AccessRow[] = [];
  const patients = new Set<string>();
  let total = 0;
  for await (const part of entries) {
    for (const row of part.slice(0, SHOWN - rows.length)) rows.push(row);
    for (const { record } of part) patients.add(record);
    total += part.length;
  }
  if (total === 0) return void process.stdout.write('No entries.\n');
  const heading = ['Time', 'Patient', 'Action', 'Of', 'Status', 'Shown', 'By', 'Name', 'Purpose', 'Request'];
  const cells = rows.map((row) => [
    toInstant(row.at).slice(0, 19).replace('T', ' '),
    row.record,
    row.action,
    [row.resource_type ?? '', row.resource_id ?? ''].filter(Boolean).join('/'),
    row.status,
    row.count === null ? '' : String(row.count),
    actorReference(row),
    row.actor ?? '',
    row.purpose ?? '',
    row.request_id,
  ]);
  const count = `${counted(total, 'entry', 'entries')} on ${counted(patients.size, 'patient')}. Times are UTC.`;
  const rest = total > rows.length ? [`The newest ${rows.length} are shown; --json has all.`] : [];
  await print(`${table(...withoutEmpty(heading, cells))}\n\n${[count, ...rest].join(' ')}\n`);
}

/** Prints the patients that entries are about, sorted by their newest entry. */
async function printPatients(entries: AsyncIterable<readonly AccessRow[]>, json: boolean): Promise<void> {
  const found = new Map<string, { entries: number; first: Micros; last: Micros }>();
  for await (const part of entries)
    for (const { record, at } of part) {
      const before = found.get(record);
      found.set(record, { entries: (before?.entries ?? 0) + 1, first: at, last: before?.last ?? at });
    }
  const rows = [...found].map(([patient, { entries: number, first, last }]) => ({
    patient,
    entries: number,
    first: toInstant(first),
    last: toInstant(last),
  }));
  if (json) return print(`${JSON.stringify({ data: rows, total: rows.length }, null, 2)}\n`);
  if (rows.length === 0) return print('No entries.\n');
  const cells = rows.map(({ patient, entries: number, first, last }) => [patient, number, first, last]);
  await print(
    `${table(['Patient', 'Entries', 'First', 'Last'], cells)}\n\n${counted(rows.length, 'patient')}. Times are UTC.\n`,
  );
}
