/** Reads the versions of a record's Observations and MedicationStatements for series and patterns. */
import pg, { type PoolClient } from 'pg';
import { AUTHOR_TYPES, type AuthorType } from '#src/shared/access/author.ts';
import type { Sees } from '#src/shared/access/caller.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { unsafePart, withdrawnPart } from '#src/v1/lists.ts';
import { type Fields, scanOut } from '../database/copy-out.ts';
import { type DayRange, type DayScan, planScans } from '../day-scans.ts';
import { andSeen, type Bind } from '../sight.ts';

/** The versions to read. */
export interface RowsOf extends DayRange {
  readonly sees: Sees;
  readonly patient: string;
  readonly type: 'Observation' | 'MedicationStatement';
  /** Names of lists (`src/v1/lists.ts`). */
  readonly lists: readonly string[];
}

/** A version. */
export interface ReadRow {
  /** The resource: `Observation/<id>` or `MedicationStatement/<id>`. */
  readonly fhir: string;
  readonly version: number;
  /** Index of the list in `lists`. */
  readonly list: number;
  /** When the event happened. */
  readonly at: Micros;
  /** The date as written in the resource; null if it has no date. */
  readonly date: string | null;
  /** When the version was recorded. */
  readonly since: Micros;
  readonly author: AuthorType;
  /** JSON members (`src/v1/observation.ts`, `src/v1/medication.ts`); undefined if they are too long. */
  readonly fields: string | undefined;
}

/** The numbers of versions that were left out, by reason. */
export interface LeftOut {
  readonly modified: number;
  readonly withdrawn: number;
  /** Versions withdrawn or modified by an AI, whose statements don't count as facts (docs/spec/interface.md, section 2.5). */
  readonly byAi: number;
}

/**
 * The maximum size of a version's members, in bytes; larger members aren't used, so that a note of ten megabytes takes no
 * memory.
 */
const LONGEST = 200_000;

/** Binds values as literals, because COPY takes no parameters. */
const literal: Bind = (value, type) => {
  const text = Array.isArray(value) ? `{${value.join(',')}}` : String(value);
  return `${pg.escapeLiteral(text)}::${type}`;
};

/**
 * Returns SQL for the lists' current places `p`, and for the newest version `e` at each place. Indexes: place_pkey (record,
 * list, at, id, version), and for each place entry_pkey (id, version), backwards.
 */
function places(of: RowsOf, names: readonly string[]): string {
  const { sees, patient, type } = of;
  const scans = planScans(names, of);
  const column = (name: keyof DayScan): string =>
    literal(
      scans.map((scan) => scan[name]),
      'int8[]',
    );
  const columns = (['index', 'list', 'low', 'high', 'first', 'last'] as const).map(column);
  return `unnest(${columns.join(', ')}) l(n, list, low, high, first, last)
    join timeline.place p on p.record = ${literal(patient, 'uuid')} and p.list = l.list
      and p.at >= l.low and p.at < l.high and p.day >= l.first and p.day <= l.last and p.until is null
    join lateral (select e.* from timeline.entry e where e.id = p.id order by e.version desc limit 1) e on
      (e.tenant = ${literal(sees.ownerId, 'uuid')}) is true ${andSeen(sees, 'rs', { as: 'e', of: 'item', type }, literal)}`;
}

/**
 * Reads versions, in no particular order. A version in several of the lists is returned once per list.
 * @param use called for each row as it arrives; parts of the row that it doesn't take aren't kept
 */
export async function readRows(database: PoolClient, of: RowsOf, use: (row: ReadRow) => void): Promise<void> {
  if (of.lists.length === 0) return;
  const text = `select p.id::text, e.version, l.n::int4, p.at, e.date, e.since, e.author_type,
       case when octet_length(e.fields) <= ${LONGEST} then e.fields end
     from ${places(of, of.lists)}`;
  const readName = namer(`${of.type}/`);
  await scanOut(database, text, (fields) => use(readRow(fields, readName)));
}

function readRow(fields: Fields, readName: (fields: Fields) => string): ReadRow {
  const author = fields.ascii(6);
  return {
    fhir: readName(fields),
    version: fields.int(1),
    list: fields.int(2),
    at: fields.int8(3),
    date: fields.ascii(4),
    since: fields.int8(5),
    author: AUTHOR_TYPES.find((each) => each === author) ?? 'import',
    fields: fields.text(7) ?? undefined,
  };
}

/** Number of characters in a UUID. */
const UUID = 36;

/**
 * Returns a function that puts a prefix before a row's id. The strings that it returns are contiguous, because a hundred
 * thousand concatenated strings would take twice the memory.
 */
function namer(prefix: string): (fields: Fields) => string {
  const name = Buffer.alloc(prefix.length + UUID);
  name.write(prefix, 'latin1');
  return ({ bytes, from }) => {
    bytes.copy(name, prefix.length, from[0] ?? 0, (from[0] ?? 0) + UUID);
    return name.toString('latin1');
  };
}

/** Counts the versions that were left out of the lists, each only once. */
export async function countLeftOut(database: PoolClient, of: RowsOf): Promise<LeftOut> {
  if (of.lists.length === 0) return { modified: 0, withdrawn: 0, byAi: 0 };
  const count = (part: (list: string) => string): string =>
    `(select count(distinct x.id) filter (where x.author_type <> 'ai') as n,
        count(distinct x.id) filter (where x.author_type = 'ai') as ai
      from (select p.id, e.author_type from ${places(of, of.lists.map(part))}) x)`;
  const { rows } = await database.query<Record<keyof LeftOut, string>>(
    `select m.n as modified, w.n as withdrawn, m.ai + w.ai as "byAi"
     from ${count(unsafePart)} m cross join ${count(withdrawnPart)} w`,
  );
  return {
    modified: Number(rows[0]?.modified ?? 0),
    withdrawn: Number(rows[0]?.withdrawn ?? 0),
    byAi: Number(rows[0]?.byAi ?? 0),
  };
}

/** States whether a caller sees a patient, and whether the read models show all acknowledged writes. */
export interface Standing {
  readonly seen: boolean;
  readonly fresh: boolean;
  /** When the record last changed; null if it has never changed. */
  readonly changed: Micros | null;
}

/** Index: primary key of resources.resource; history.version_of_record, backwards. */
const STANDING = `
  select exists (select from resources.resource o
      where o.id = $1 and (o.tenant = $2::uuid) is true and o.type = 'Patient' and not o.deleted) as seen,
    (select t.position >= h.position from timeline.checkpoint t, history.checkpoint h) as fresh,
    (select max(v.recorded_at) from history.version v where v.record = $1) as changed`;

/** Reads a record's state. Call this before reading the rows, so that the rows are at least as new. */
export async function readStanding(database: PoolClient, sees: Sees, patient: string): Promise<Standing> {
  if (sees.within !== undefined && sees.within.record !== patient)
    return { seen: false, fresh: true, changed: null };
  const { rows } = await database.query<Standing>({
    name: 'insight-standing',
    text: STANDING,
    values: [patient, sees.ownerId],
  });
  const [row] = rows;
  return { seen: row?.seen === true, fresh: row?.fresh === true, changed: row?.changed ?? null };
}
