/**
 * Counts what PostgreSQL writes for one create, one update and one entry in a transaction: rows, log volume and commits, by
 * table.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Bench, MeasuredService } from '../bench.ts';
import type { Requests } from '../load/plan.ts';
import { createObservations, createPatients, FHIR, resourcePath } from '../records.ts';
import { readSessions, usedBetween } from './sessions.ts';
import { readWritten, type Written, walPosition } from './wal.ts';

/** The cost of one write of a certain kind. */
export interface WriteCounts {
  readonly kind: string;
  readonly inserts: number;
  readonly updates: number;
  readonly deletes: number;
  readonly commits: number;
  /** Number of records in PostgreSQL's log, and their bytes without full-page images. */
  readonly records: number;
  readonly bytes: number;
  /** Bytes by which tables and indexes grew. */
  readonly disk: number;
  /** Microseconds of processor time in PostgreSQL: the total, and the time of each session, highest first. */
  readonly processor: number;
  readonly sessions: readonly (readonly [name: string, microseconds: number])[];
  readonly tables: readonly Written[];
}

const PATIENTS = 64;
const ENTRIES = 300;
/** How long it takes, in ms, until read models that collect events and the logs of requests have been written. */
const SETTLED_MS = 2_500;

/** Counts each kind of write on a service that has just been started. */
export async function countWrites(
  bench: Bench,
  running: Pick<MeasuredService, 'service' | 'databaseUrl'>,
): Promise<WriteCounts[]> {
  const { service } = running;
  const patients = await createPatients(service, PATIENTS);
  const creates = (clients: number, count: number) =>
    createObservations(bench, service, patients, { clients, count });
  await creates(16, bench.size(3_000, 64));
  const amended = bench.size(500, 8);
  const made = await createObservations(bench, service, patients, {
    clients: 1,
    count: amended,
    locations: true,
  });
  const send = (requests: Requests, count: number) =>
    bench.load({ target: service.target, clients: 1, requests, expect: 200, count });
  const transactions = { kind: 'transactions', path: FHIR, entries: ENTRIES, kinds: 8 } as const;
  const paths = made.locations.map(resourcePath);
  const kinds = [
    ['create, one client', bench.size(500, 8), (count: number) => creates(1, count)],
    ['create, 16 clients', bench.size(2_000, 16), (count: number) => creates(16, count)],
    [
      'entry of a transaction',
      bench.size(10) * ENTRIES,
      (count: number) => send(transactions, count / ENTRIES),
    ],
    ...(['value', 'status'] as const).map(
      (corrected) =>
        [
          `update of ${corrected === 'value' ? 'a value' : 'value and status'}`,
          amended,
          (count: number) => send({ kind: 'updates', paths, patients, corrected }, count),
        ] as const,
    ),
  ] as const;
  const counted: WriteCounts[] = [];
  // A full-page image replaces the records of changes to that page, so these changes wouldn't be counted.
  await setImages(bench, 'off');
  for (const [kind, count, run] of kinds)
    counted.push(await countKind(bench, running, kind, count, () => run(count)));
  await setImages(bench, 'on');
  return counted;
}

async function setImages(bench: Bench, value: 'on' | 'off'): Promise<void> {
  await bench.query(bench.server.url, `alter system set full_page_writes = ${value}`);
  await bench.query(bench.server.url, 'select pg_reload_conf()');
}

async function countKind(
  bench: Bench,
  { databaseUrl: url }: Pick<MeasuredService, 'databaseUrl'>,
  kind: string,
  count: number,
  run: () => Promise<unknown>,
): Promise<WriteCounts> {
  await pause(SETTLED_MS);
  await bench.settle(url);
  const size = await readSize(bench, url);
  const [from, before] = [await walPosition(bench, url), await readSessions(bench, url)];
  await run();
  await pause(SETTLED_MS);
  const [to, after] = [await walPosition(bench, url), await readSessions(bench, url)];
  const tables = await readWritten(bench, url, from, to);
  await bench.settle(url);
  const disk = (await readSize(bench, url)) - size;
  const sessions = usedBetween(before, after).map(([name, used]) => [name, used / 1_000 / count] as const);
  const each = (column: 'inserts' | 'updates' | 'deletes' | 'records' | 'bytes'): number =>
    tables.reduce((sum, table) => sum + table[column], 0) / count;
  return {
    kind,
    inserts: each('inserts'),
    updates: each('updates'),
    deletes: each('deletes'),
    commits: (tables.find(({ name }) => name === 'Transaction COMMIT')?.records ?? 0) / count,
    records: each('records'),
    bytes: each('bytes'),
    disk: disk / count,
    processor: sessions.reduce((sum, [, used]) => sum + used, 0),
    sessions,
    tables: tables.map(({ name, ...columns }) => ({
      name,
      ...(Object.fromEntries(
        Object.entries(columns).map(([column, value]) => [column, value / count]),
      ) as Omit<Written, 'name'>),
    })),
  };
}

/** Returns the size of all of the service's tables and indexes, in bytes. */
export async function readSize(bench: Bench, url: string): Promise<number> {
  const [row] = await bench.query<{ size: string }>(
    url,
    `select sum(pg_table_size(c.oid) + pg_indexes_size(c.oid)) as size from pg_class c
     where c.relkind = 'r' and c.relnamespace::regnamespace::text !~ '^(pg_|information_schema)'`,
  );
  return Number(row?.size);
}

/** Returns the lines for a kind's tables, omitting tables that account for less than a hundredth of all bytes. */
export function formatTables({ tables, bytes }: WriteCounts): string[] {
  const columns = (table: Written): string =>
    [table.inserts, table.updates, table.hot, table.deletes, table.records]
      .map((n) => n.toFixed(2).padStart(7))
      .join('');
  return tables
    .filter((table) => table.bytes > bytes / 100)
    .map((table) => `${table.name.padEnd(36)}${columns(table)} ${table.bytes.toFixed(0).padStart(6)} B`);
}
