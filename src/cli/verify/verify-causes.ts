/**
 * Groups the faults that `annal verify` found by cause, because a single altered event makes rows differ in several read
 * models. Pure.
 */
import type { RowChange, RowDifference } from '#projections/compare.ts';
import type { LogFault } from '#projections/verify/log-check.ts';
import type { OperationsFault } from '#projections/verify/operations-check.ts';
import type { ReadModelFault } from '#projections/verify/verify-read-model.ts';
import type { DocumentFault } from '#src/documents/check.ts';
import { recordPatient } from '#src/events/streams.ts';
import type { AccessLogFault } from '#src/operations/access-log/check.ts';

/** The faults as verification reports them. */
export interface Faults {
  readonly log: readonly LogFault[];
  readonly operations?: readonly OperationsFault[];
  readonly documents?: readonly DocumentFault[];
  readonly accessLog?: readonly AccessLogFault[];
  readonly readModels?: readonly ReadModelFault[];
}

/** One cause of faults. */
export interface Cause {
  /** `log`, `documents`, `access log`, a read model, or a table: `resources.resource`. */
  readonly where: string;
  /** `hash`, `revision`, … for the log; `changed`, `missing`, `orphan` for rows. */
  readonly what: string;
  /** The event's place, the resource, or a row's key. */
  readonly which: string;
  /** Event id; null if there is none. */
  readonly event: string | null;
  readonly messages: readonly string[];
  /** The values before and after the fault. */
  readonly changes: readonly RowChange[];
  /** The tables in which rows differ for this reason, and the number of these rows. */
  readonly follows: Readonly<Record<string, number>>;
}

interface Rows {
  readonly table: string;
  readonly row: RowDifference;
}

/** Groups faults by cause; faults in the log come first, in the log's order. */
export function groupByCause({
  log,
  operations = [],
  documents = [],
  accessLog = [],
  readModels = [],
}: Faults): Cause[] {
  const rows = readModels.flatMap((fault): Rows[] =>
    'table' in fault ? [{ table: `${fault.projection}.${fault.table}`, row: fault }] : [],
  );
  const groups = logGroups(log);
  const taken = new Set<object>();
  const ofLog = groups.map((group): Cause => {
    const own = rows.filter(({ row }) => !taken.has(row) && isAbout(row, group));
    const noted = operations.filter((each) => !taken.has(each) && each.key.stream === group[0].stream);
    for (const each of [...own.map(({ row }) => row), ...noted]) taken.add(each);
    return logCause(group, own, noted);
  });
  return [
    ...ofLog,
    ...operations.filter((each) => !taken.has(each)).map(operationsCause),
    ...documents.map(documentCause),
    ...accessGroups(accessLog).map(accessCause),
    ...rowGroups(rows.filter(({ row }) => !taken.has(row))).map(rowCause),
    ...readModels.flatMap((fault): Cause[] => ('table' in fault ? [] : [modelCause(fault)])),
  ];
}

type Group = readonly [LogFault, ...LogFault[]];

/**
 * Groups faults at the same event, or at neighbouring events in a stream, because they have one cause: swapped events, or a
 * wrong hash that the next event builds on.
 */
function logGroups(faults: readonly LogFault[]): Group[] {
  const groups: [LogFault, ...LogFault[]][] = [];
  for (const fault of faults) {
    const group = groups.find((each) => {
      const last = each.at(-1) ?? each[0];
      const near = Math.abs(fault.revision - last.revision) <= 1;
      return last.stream === fault.stream && (near || fault.what === 'checkpoint');
    });
    if (group === undefined) groups.push([fault]);
    else group.push(fault);
  }
  return groups;
}

/** The faults that mean that events are missing, regardless of the resource that the missing events belong to. */
const MISSING: ReadonlySet<LogFault['what']> = new Set(['revision', 'version', 'erasure', 'identity']);

/**
 * Returns true if a row differs because of faults in the log: the row is about the same resource or, if events are missing,
 * about the same record.
 */
function isAbout(row: RowDifference, group: Group): boolean {
  const id = findId(row);
  if (group.some(({ resource }) => id !== undefined && resource?.endsWith(`/${id}`))) return true;
  const record = recordPatient(group[0].stream);
  const missing =
    group.some(({ what, event }) => event === null || MISSING.has(what)) ||
    group.every(({ resource }) => resource === undefined);
  return record !== undefined && (row.record ?? id) === record && (missing || id === undefined);
}

/** Returns the resource that a row is about, from the row's key. */
function findId({ key }: RowDifference): string | undefined {
  return typeof key.id === 'string' ? key.id : undefined;
}

function logCause(group: Group, rows: readonly Rows[], noted: readonly OperationsFault[]): Cause {
  const [first] = group;
  const resource = group.find((fault) => fault.resource !== undefined)?.resource;
  const altered = group.some(({ what }) => what === 'hash' || what === 'form');
  // The current row contains the original values; the rebuilt row contains the values that are in the log now.
  // `history.version` is preferred, because its row is the event's own version.
  const changed = rows.filter(({ row: { changes: found = [] } }) => found.length > 0);
  const source = changed.find(({ table }) => table === 'history.version') ?? changed[0];
  const changes = (source?.row.changes ?? []).map(({ path, before, after }) => ({
    path,
    ...(after === undefined ? {} : { before: after }),
    ...(before === undefined ? {} : { after: before }),
  }));
  return {
    where: 'log',
    what: first.what,
    which: `${first.stream} at ${first.revision}${resource === undefined ? '' : `, ${resource}`}`,
    event: first.event,
    messages: [...new Set(group.map(({ message }) => message))],
    changes: altered ? changes : [],
    follows: counts([...rows.map(({ table }) => table), ...noted.map(({ table }) => `operations.${table}`)]),
  };
}

/**
 * Groups rows by cause. Rows about one resource have one cause, and so do all rows in a record that has versions without
 * events, because the end of its stream is missing. Rows without a resource are grouped by their record, or each by itself if
 * they have no record.
 */
function rowGroups(rows: readonly Rows[]): Rows[][] {
  const groups = new Map<string, Rows[]>();
  const shortened = new Set(
    rows.flatMap(({ table, row }) =>
      table === 'history.version' && row.what === 'orphan' ? (row.record ?? []) : [],
    ),
  );
  for (const each of rows) {
    const { table, row } = each;
    const inShortened = row.record !== null && shortened.has(row.record) ? row.record : undefined;
    const key = inShortened ?? findId(row) ?? row.record ?? `${table} ${JSON.stringify(row.key)}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()];
}

const ROW_MESSAGES = {
  changed: 'the row differs from the log',
  missing: "the row is missing: the log has it, the table doesn't",
  orphan: "the row has no event: the table has it, the log doesn't",
} as const;

function rowCause(group: readonly Rows[]): Cause {
  const [first] = group;
  if (first === undefined) throw new TypeError('a cause without rows');
  const { table, row } =
    group.find((each) => each.table === 'history.version' && each.row.what === 'orphan') ??
    group.find(({ row: { changes = [] } }) => changes.length > 0) ??
    first;
  const key = Object.entries(row.key).map(([name, value]) => `${name} ${String(value)}`);
  const record = row.record === null ? '' : `, Patient/${row.record}`;
  return {
    where: table,
    what: row.what,
    which: `${key.join(', ')}${record}`,
    event: null,
    messages: [ROW_MESSAGES[row.what]],
    changes: row.changes ?? [],
    follows: counts(group.filter((each) => each.row !== row).map((each) => each.table)),
  };
}

function operationsCause({ table, what, key, message }: OperationsFault): Cause {
  const which = Object.entries(key).map(([name, value]) => `${name} ${value}`);
  return cause({ where: `operations.${table}`, what, which: which.join(', '), messages: [message] });
}

function documentCause({ what, document, patient, event, message }: DocumentFault): Cause {
  const which = `DocumentReference/${document}, Patient/${patient}`;
  return cause({ where: 'documents', what, which, event, messages: [message] });
}

/** Groups faults at the same entry, or at neighbouring entries in one record's access log, because they have one cause. */
function accessGroups(faults: readonly AccessLogFault[]): (readonly [AccessLogFault, ...AccessLogFault[]])[] {
  const groups: [AccessLogFault, ...AccessLogFault[]][] = [];
  for (const fault of faults) {
    const group = groups.find((each) => {
      const { record, entry } = each.at(-1) ?? each[0];
      if (record !== fault.record) return false;
      return entry === null || fault.entry === null || Math.abs(fault.entry - entry) <= 1;
    });
    if (group === undefined) groups.push([fault]);
    else group.push(fault);
  }
  return groups;
}

function accessCause(group: readonly [AccessLogFault, ...AccessLogFault[]]): Cause {
  const [{ what, record, entry }] = group;
  const which = `Patient/${record}${entry === null ? '' : `, entry ${entry}`}`;
  const messages = [...new Set(group.map(({ message }) => message))];
  return cause({ where: 'access log', what, which, messages });
}

function modelCause({ projection, what, message }: Exclude<ReadModelFault, RowDifference>): Cause {
  return cause({ where: projection, what, messages: [message] });
}

function cause(known: Pick<Cause, 'where' | 'what' | 'messages'> & Partial<Cause>): Cause {
  return { which: '', event: null, changes: [], follows: {}, ...known };
}

function counts(tables: readonly string[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const table of tables) found[table] = (found[table] ?? 0) + 1;
  return found;
}
