/**
 * Tallies: the number of entries that have all of certain keys, for searches that were requested with their total and found
 * many matches (docs/decisions/0036-tallies-on-request.md). Only the read model's runner writes them. A row starts without a
 * count and without changes; from then on, each batch adds its changes to the row, in its own transaction. The count is made
 * later, in one snapshot with the changes so far. Count and changes together are therefore exact in every snapshot.
 */
import pg, { type QueryConfig } from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import { projectStream } from '#src/events/streams.ts';
import { recordKey, searchKey } from '#src/fhir/search/keys.ts';
import { type AskedTally, readAsk, TALLIES } from '#src/fhir/search/tallies.ts';
import { tenantId } from '#src/shared/access/caller.ts';
import type { Steps } from '#src/shared/load/slices.ts';
import type { Kept } from '../projection.ts';
import { closeSession, endWithClient, openSession } from '../session.ts';
import type { Rows } from './rows.ts';

/** The maximum number of tallies, and how long they are kept. */
export const TALLY_LIMITS = {
  /** Maximum number of tallies per project and environment. */
  most: 32,
  /** A tally that hasn't been requested for this long, in ms, may be replaced by another tally. */
  sparedMs: 3_600_000,
  /** A tally that hasn't been requested for this long, in ms, is deleted. */
  unusedMs: 86_400_000,
} as const;

/** The maximum number of notifications to remember until they are processed. */
const MOST_ASKED = 1_000;

interface Tally extends AskedTally {
  isCounted: boolean;
  /** When the tally was last requested, by this process's clock. */
  used: number;
}

type Limits = { readonly [name in keyof typeof TALLY_LIMITS]: number };

const TALLIED = 'json_to_recordset($2::json) as t(keys int8[])';
const add = (schema: string, sign: '+' | '-') =>
  `update ${schema}.tally w set changed = w.changed ${sign} s.by from sums s where w.keys = s.keys and s.by <> 0`;

/** Adds the changes that newer versions of entries cause. Runs before the entries are written (`$1`). */
const change = (schema: string) => `
with changed as materialized (
  select x.keys as now, e.keys as before from json_to_recordset($1::json) as x(id uuid, version int, keys int8[])
  left join lateral (select e.version, e.keys from ${schema}.entry e where e.id = x.id offset 0) e on true
  where e.version is null or x.version > e.version
), sums as materialized (
  select t.keys, sum((c.now @> t.keys)::int - coalesce(c.before @> t.keys, false)::int) as by
  from ${TALLIED} cross join changed c group by t.keys
)
${add(schema, '+')}`;

/** Subtracts the entries of records that are about to be erased (`$1`: the records' keys, `$3`: their ids). */
const takeOff = (schema: string) => `
with gone as materialized (
  select e.keys from ${schema}.entry e where e.keys && $1::int8[] and e.record = any($3::uuid[])
), sums as materialized (
  select t.keys, count(*) as by from ${TALLIED} join gone g on g.keys @> t.keys group by t.keys
)
${add(schema, '-')}`;

/**
 * Counts the entries. Both numbers come from the statement's snapshot: if the row is changed in the meantime, the update finds
 * the row's new version, but keeps the materialized difference.
 */
const COUNT = `
with kept as materialized (select t.changed from search.tally t where t.keys = $1::int8[] and t.counted is null),
counted as materialized (
  select (select count(*) from search.entry e where e.keys @> $1::int8[]) - k.changed as counted from kept k
)
update search.tally w set counted = c.counted from counted c where w.keys = $1::int8[] and w.counted is null`;

/** Builds a batch's statements, including those for tallies. */
type Make = (
  schema: string,
  events: readonly StoredEvent[],
  tallies: Tallies,
) => Steps<readonly QueryConfig[]>;

/** The tallies that a runner maintains during its term. */
export class Tallies implements Kept {
  /** The tallies that have rows, and possibly more tallies, by their keys. */
  #all = new Map<string, Tally>();
  #byTenant = new Map<string, Tally[]>();
  readonly #asked = new Set<string>();
  #lookedAt = performance.now();
  #taking: Promise<void> | undefined;
  #counting: Promise<void> | undefined;
  #counter: pg.Client | undefined;
  #isClosed = false;

  private constructor(
    private readonly session: pg.Client,
    private readonly databaseUrl: string,
    private readonly make: Make,
    private readonly limits: Limits,
  ) {}

  /**
   * Opens the tallies that have rows.
   * @param session the elected runner's session
   */
  static async open(
    session: pg.Client,
    databaseUrl: string,
    make: Make,
    limits: Limits = TALLY_LIMITS,
  ): Promise<Tallies> {
    const tallies = new Tallies(session, databaseUrl, make, limits);
    session.on('notification', ({ channel, payload }) => {
      if (channel === TALLIES && payload !== undefined && tallies.#asked.size < MOST_ASKED)
        tallies.#asked.add(payload);
    });
    await session.query(`listen ${TALLIES}`);
    await tallies.#load();
    tallies.#countLater();
    return tallies;
  }

  get isDue(): boolean {
    return (
      this.#asked.size > 0 ||
      (this.#all.size > 0 && performance.now() - this.#lookedAt > this.limits.sparedMs)
    );
  }

  take(): Promise<void> {
    this.#taking ??= this.#takeAsked().finally(() => {
      this.#taking = undefined;
    });
    return this.#taking;
  }

  inSteps(schema: string, events: readonly StoredEvent[]): Steps<readonly QueryConfig[]> {
    return this.make(schema, events, this);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#counter !== undefined) await closeSession(this.#counter);
    await this.#counting;
  }

  /**
   * Returns the statement that adjusts the tallies to the rows of resources' newest versions; it must run before those rows
   * are written.
   */
  change(schema: string, all: readonly Rows[]): QueryConfig[] {
    if (this.#all.size === 0) return [];
    const rows: object[] = [];
    const tallied = new Set<string>();
    for (const { entry, tenant, type } of all) {
      const { id, version, keys } = entry;
      const own = this.#of(tenant).filter(
        (tally) => tally.type === type && (version > 1 || hasAll(String(keys), tally.keys)),
      );
      if (own.length > 0) rows.push({ id, version, keys });
      for (const tally of own) tallied.add(tally.keys);
    }
    if (rows.length === 0) return [];
    const values = [JSON.stringify(rows), stringifyKeys([...tallied])];
    return [{ name: `${schema}.tally`, text: change(schema), values }];
  }

  /** Returns the statements that adjust the tallies to the records that a batch erases; they must run before the erasure. */
  takeOff(schema: string, events: readonly StoredEvent[]): QueryConfig[] {
    return events.flatMap(({ event, stream }): QueryConfig[] => {
      if (event.type !== 'RecordErased') return [];
      const { patient, environment } = event.data;
      const own = this.#of(tenantId({ project: stream.slice(projectStream('').length), environment }));
      if (own.length === 0) return [];
      const keys = stringifyKeys(own.map((tally) => tally.keys));
      return [{ text: takeOff(schema), values: [[searchKey(recordKey(patient))], keys, [patient]] }];
    });
  }

  #of(tenant: string): readonly Tally[] {
    return this.#byTenant.get(tenant) ?? [];
  }

  /** Reads the tallies' rows again: a rebuild may have replaced their table with an empty one. */
  async #load(): Promise<void> {
    const { rows } = await this.session.query<AskedTally & { isCounted: boolean }>(
      'select tenant, type, keys::text as keys, counted is not null as "isCounted" from search.tally',
    );
    const before = this.#all;
    this.#all = new Map();
    this.#byTenant = new Map();
    for (const row of rows) this.#put({ ...row, used: before.get(row.keys)?.used ?? performance.now() });
    this.#lookedAt = performance.now();
  }

  #put(tally: Tally): void {
    this.#all.set(tally.keys, tally);
    this.#byTenant.set(tally.tenant, [...this.#of(tally.tenant), tally]);
  }

  async #takeAsked(): Promise<void> {
    const asked = [...this.#asked].flatMap((text) => readAsk(text) ?? []);
    this.#asked.clear();
    try {
      await this.#load();
      for (const each of asked) await this.#add(each);
      for (const tally of this.#all.values()) {
        if (performance.now() - tally.used > this.limits.unusedMs) await this.#drop(tally);
      }
    } catch (error) {
      // Until tallies are requested again, searches count the matches themselves. Every row is known here, because a tally is
      // remembered before its row is written.
      if (!(error instanceof pg.DatabaseError)) throw error;
    }
    this.#countLater();
  }

  async #add(asked: AskedTally): Promise<void> {
    const known = this.#all.get(asked.keys);
    if (known !== undefined) {
      known.used = performance.now();
      return;
    }
    const own = this.#of(asked.tenant);
    if (own.length >= this.limits.most) {
      const [oldest] = [...own].sort((one, other) => one.used - other.used);
      if (oldest === undefined || performance.now() - oldest.used < this.limits.sparedMs) return;
      await this.#drop(oldest);
    }
    this.#put({ ...asked, isCounted: false, used: performance.now() });
    await this.session.query(
      'insert into search.tally (tenant, type, keys) values ($1, $2, $3) on conflict (keys) do nothing',
      [asked.tenant, asked.type, asked.keys],
    );
  }

  async #drop({ keys, tenant }: Tally): Promise<void> {
    await this.session.query('delete from search.tally where keys = $1::int8[]', [keys]);
    this.#all.delete(keys);
    this.#byTenant.set(
      tenant,
      this.#of(tenant).filter((each) => each.keys !== keys),
    );
  }

  /** Counts on another session, in parallel with the batches; if that fails, counts after the next request. */
  #countLater(): void {
    this.#counting ??= this.#count()
      .catch(() => undefined)
      .finally(() => {
        this.#counting = undefined;
      });
  }

  async #count(): Promise<void> {
    const next = () => [...this.#all.values()].find(({ isCounted }) => !isCounted);
    if (next() === undefined) return;
    const session = await openSession(this.databaseUrl, { name: 'tallies' });
    this.#counter = session;
    try {
      await endWithClient(session);
      for (let tally = next(); tally !== undefined && !this.#isClosed; tally = next()) {
        await session.query(COUNT, [tally.keys]);
        tally.isCounted = true;
      }
    } finally {
      this.#counter = undefined;
      await closeSession(session);
    }
  }
}

/** Returns true if one array literal contains all members of another. */
function hasAll(keys: string, wanted: string): boolean {
  const members = `,${keys.slice(1, -1)},`;
  return wanted
    .slice(1, -1)
    .split(',')
    .every((key) => members.includes(`,${key},`));
}

function stringifyKeys(all: readonly string[]): string {
  return JSON.stringify(all.map((keys) => ({ keys })));
}
