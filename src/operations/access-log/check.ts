/**
 * Checks the access log, as part of `annal verify` and `annal checkpoint`. Recomputes every record's chain, compares it with
 * the record's head and with the heads in a checkpoint, and checks that the event log explains everything that was removed
 * (docs/access-log.md). Keeps the entries that it has seen in temporary tables, so that memory use doesn't grow with the log.
 */
import type { ClientBase } from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import { chainHash, digestEntry, type EntryColumns, GENESIS } from './chain.ts';
import { selectUse } from './use.ts';

export interface AccessLogFault {
  /**
   * `hash`: an entry was altered or moved; `sequence`: entries are missing or duplicated; `head`: the last entries are
   * missing, or the head was altered; `erasure`: entries were removed without a purge, or remain after a purge; `checkpoint`:
   * the entries differ from those in the checkpoint, or end before them; `count`: the counts of a grant's reads differ from
   * its entries.
   */
  readonly what: 'hash' | 'sequence' | 'head' | 'erasure' | 'checkpoint' | 'count';
  readonly record: string;
  /** The entry's number in the record; null if the fault isn't in a single entry. */
  readonly entry: number | null;
  readonly message: string;
}

/** The end of a record's access log. */
export interface AccessHead {
  readonly record: string;
  readonly entries: number;
  /** The last entry's hash, 64 hex digits. */
  readonly hash: string;
}

/** An event about a record's purge. */
export type PurgeTrace = Extract<
  StoredEvent['event'],
  { readonly type: 'RecordErasureRequested' | 'RecordErased' }
>;

/**
 * Returns, for each of the given records, the last event about its purge in the whole event log; records without such an event
 * are absent.
 */
export type FindPurges = (records: ReadonlySet<string>) => Promise<ReadonlyMap<string, PurgeTrace>>;

/** The result. */
export interface AccessLogReport {
  /** Number of records with entries, excluding purged records. */
  readonly records: number;
  readonly entries: number;
  /** At most `limit`. */
  readonly faults: readonly AccessLogFault[];
}

const PAGE = 5_000;

const TABLES = `
create temp table seen_access (record uuid primary key, entries int8 not null, hash text not null, erased boolean not null);
create temp table expected_access (record uuid primary key, entries int8 not null, hash text not null);
create temp table purged_access (record uuid primary key, entries int8, hash text)`;

/** Reads entries, record by record, each with what the record's head says about a purge. */
const ENTRIES = `
declare access_entries no scroll cursor for
select e.record, e.seq::float8 as seq, e.id, e.at::float8 as at, e.action, e.actor_kind, e.actor_id, e.issuer, e.role, e.grant_id,
       e.resource_type, e.resource_id, e.purpose, e.status, e.count, e.request_id, e.actor_name, e.receipt, encode(e.hash, 'hex') as hash,
       coalesce(h.erased, false) as erased
  from operations.access_entry e left join operations.access_head h using (record)`;

/** Heads that don't match the last entry. */
const HEADS = `
select coalesce(h.record, s.record) as record, h.entries::float8 as entries, s.entries::float8 as seen
  from operations.access_head h full join seen_access s using (record)
 where not coalesce(h.erased, false)
   and (h.record is null or h.entries <> coalesce(s.entries, 0)
        or encode(h.hash, 'hex') <> coalesce(s.hash, repeat('0', 64)))`;

/** Heads marked as removed that aren't explained by the events read so far. */
const UNEXPLAINED = `
select h.record, h.entries::float8 as entries, null as seen
  from operations.access_head h left join purged_access p using (record)
 where h.erased and (p.record is null or p.entries is not null
                     and (h.entries > p.entries or h.entries = p.entries and h.entries > 0 and encode(h.hash, 'hex') <> p.hash))
 order by 1 limit $1`;

/** Purged records that still have entries or a head. */
const LEFT = `
select p.record, p.entries::float8 as entries, s.entries::float8 as seen
  from purged_access p left join operations.access_head h using (record) left join seen_access s using (record)
 where p.entries is not null
   and (s.record is not null or not coalesce(h.erased, p.entries = 0)
        or exists (select from operations.access_use u where u.record = p.record))
 order by 1 limit $1`;

/** Heads from the checkpoint that the entries don't reach, unless the record's purge explains this. */
const LOST = `
select e.record, e.entries::float8 as entries, s.entries::float8 as seen
  from expected_access e left join seen_access s using (record) left join purged_access p using (record)
 where (s.record is null or s.entries < e.entries)
   and (p.record is null or p.entries < e.entries or p.entries = e.entries and p.hash <> e.hash)
 order by 1 limit $1`;

/** Records whose counts don't match their entries. */
const COUNTS = `
with e as (
  ${selectUse('operations.access_entry')}
)
select coalesce(e.record, u.record) as record, sum(u.entries)::float8 as entries, sum(e.entries)::float8 as seen
  from e full join operations.access_use u using (record, grant_id, day, resource_type)
  left join operations.access_head h on h.record = coalesce(e.record, u.record)
 where (e.entries, e.reads, e.last_at) is distinct from (u.entries, u.reads, u.last_at) and not coalesce(h.erased, false)
 group by 1 order by 1 limit $1`;

interface EntryRow extends EntryColumns {
  readonly seq: number;
  readonly at: number;
  readonly hash: string;
  readonly erased: boolean;
}

/** The state of the walk through a record's entries. */
interface Walked extends AccessHead {
  readonly erased: boolean;
}

/** A record that one of the comparisons returns. */
interface HeadRow {
  readonly record: string;
  readonly entries: number | null;
  readonly seen: number | null;
}

/** Checks the access log alongside a pass over the event log. */
export class AccessLogCheck {
  readonly #faults: AccessLogFault[] = [];
  #there = false;
  #entries = 0;

  /**
   * @param session has the temporary tables; nothing else may use it during the check
   * @param limit the maximum number of faults to list
   * @param only the records (UUIDs) whose entries are checked; by default, all records. If set, purges and counts aren't
   *   checked.
   */
  constructor(
    private readonly session: ClientBase,
    private readonly limit: number,
    private readonly only?: ReadonlySet<string>,
  ) {}

  /** Returns the SQL condition for the entries to check. */
  #only(word: 'where' | 'and', column: string): string {
    if (this.only === undefined) return '';
    return ` ${word} ${column} = any('{${[...this.only].join(',')}}'::uuid[])`;
  }

  /**
   * Creates the temporary tables.
   * @param heads the ends of the access logs when a checkpoint was made
   */
  async begin(heads?: AsyncIterable<AccessHead>): Promise<void> {
    const { rowCount } = await this.session.query(
      "select where to_regclass('operations.access_entry') is not null",
    );
    this.#there = rowCount !== 0;
    await this.session.query(TABLES);
    let some: AccessHead[] = [];
    const add = async (): Promise<void> => {
      await this.#expect(some);
      some = [];
    };
    for await (const head of heads ?? []) {
      some.push(head);
      if (some.length === PAGE) await add();
    }
    await add();
  }

  /** Records the purges among the next events in the log; events must be passed in order. */
  async note(events: readonly Pick<StoredEvent, 'event'>[]): Promise<void> {
    const found = new Map<string, PurgeTrace>();
    for (const { event } of events)
      if (
        event.type === 'RecordErased' ||
        // A repeated request for a purge doesn't cancel a purge that was carried out.
        (event.type === 'RecordErasureRequested' && !found.has(event.data.patient))
      )
        found.set(event.data.patient, event);
    await this.#notePurges(found);
  }

  /**
   * Reads the whole access log as of one point in time, after all events have been noted.
   * @param findPurges called for records whose state the events don't explain, because their purge may be newer
   */
  async end(findPurges: FindPurges): Promise<AccessLogReport> {
    if (!this.#there) return { records: 0, entries: 0, faults: [] };
    // Entries and heads are read as of the same point in time, regardless of what writers and purges do in the meantime.
    await this.session.query('begin isolation level repeatable read');
    try {
      await this.session.query(
        'set local enable_seqscan = on; set local enable_hashjoin = on; set local enable_mergejoin = on',
      );
      await this.#walk();
      await this.#checkHeads();
      if (this.only === undefined) await this.#explain(findPurges);
      await this.session.query('commit');
    } catch (error) {
      await this.session.query('rollback').catch(() => undefined);
      throw error;
    }
    const { rows } = await this.session.query<{ n: number }>(
      'select count(*)::int4 as n from seen_access where not erased',
    );
    return { records: rows[0]?.n ?? 0, entries: this.#entries, faults: this.#faults };
  }

  /** Checks whether the event log explains what is missing, and compares the counts. */
  async #explain(findPurges: FindPurges): Promise<void> {
    const unsure = [...(await this.#rows(UNEXPLAINED)), ...(await this.#rows(LOST))];
    const records = new Set(unsure.map(({ record }) => record));
    if (records.size > 0) await this.#notePurges(await findPurges(records));
    await this.#checkPurges();
    await this.#checkLost();
    await this.#checkCounts();
  }

  /**
   * Yields the heads of all records that weren't purged, in the order of ids. Must be called after everything else has been
   * checked.
   */
  async *heads(): AsyncGenerator<AccessHead> {
    for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
      const { rows } = await this.session.query<AccessHead>(
        `select record, entries::float8 as entries, hash from seen_access
          where record > $1 and not erased order by record limit $2`,
        [after, PAGE],
      );
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.record;
    }
  }

  /** Recomputes every chain. */
  async #walk(): Promise<void> {
    await this.session.query(`${ENTRIES}${this.#only('where', 'e.record')} order by e.record, e.seq`);
    let walked: Walked | undefined;
    for (;;) {
      const { rows } = await this.session.query<EntryRow>(`fetch ${PAGE} from access_entries`);
      if (rows.length === 0) break;
      const expected = await this.#expected([...new Set(rows.map(({ record }) => record))]);
      const ends = new Map<string, Walked>();
      for (const row of rows) {
        const before = walked?.record === row.record ? walked : undefined;
        // A purge removes the entries in parts, so some may be missing.
        if (!row.erased) this.#checkEntry(row, before, expected.get(row.record));
        walked = { record: row.record, entries: row.seq, hash: row.hash, erased: row.erased };
        ends.set(row.record, walked);
      }
      await this.#seen([...ends.values()]);
    }
    await this.session.query('close access_entries');
  }

  #checkEntry(row: EntryRow, before: AccessHead | undefined, expected: AccessHead | undefined): void {
    const { record, seq, at, hash } = row;
    this.#entries += 1;
    const last = before?.entries ?? 0;
    const previous = before === undefined ? GENESIS : Buffer.from(before.hash, 'hex');
    if (seq !== last + 1) {
      const message = last === 0 ? `the first entry has the number ${seq}` : `entry ${seq} follows ${last}`;
      this.#add({ what: 'sequence', record, entry: seq, message });
    } else if (chainHash(previous, seq, at, digestEntry(row)).toString('hex') !== hash) {
      const message = 'hash mismatch: this entry or the one before it was altered';
      this.#add({ what: 'hash', record, entry: seq, message });
    }
    if (expected?.entries === seq && expected.hash !== hash) {
      const message = `the entries up to ${seq} differ from those signed in the checkpoint`;
      this.#add({ what: 'checkpoint', record, entry: seq, message });
    }
  }

  async #checkHeads(): Promise<void> {
    for (const { record, entries, seen } of await this.#rows(
      `${HEADS}${this.#only('and', 'coalesce(h.record, s.record)')} order by 1 limit $1`,
    )) {
      const message =
        entries === null
          ? `there are ${seen ?? 0} entries, but the record has no head`
          : entries === seen
            ? 'the hash of the head differs from that of the last entry'
            : `the entries end at ${seen ?? 0}, but the head counts ${entries}`;
      this.#add({ what: 'head', record, entry: null, message });
    }
  }

  async #checkPurges(): Promise<void> {
    for (const { record, entries } of await this.#rows(UNEXPLAINED)) {
      const message = `${entries ?? 0} entries were removed, but the log of events has no purge that explains it`;
      this.#add({ what: 'erasure', record, entry: null, message });
    }
    for (const { record, seen } of await this.#rows(LEFT)) {
      const message =
        seen === null || seen === 0
          ? 'the record was purged, but its access log can still be written, or counts of its reads remain'
          : 'the record was purged but still has entries';
      this.#add({ what: 'erasure', record, entry: null, message });
    }
  }

  async #checkLost(): Promise<void> {
    for (const { record, entries, seen } of await this.#rows(LOST)) {
      const message =
        seen === null
          ? `the access log is missing; the checkpoint has it up to entry ${entries ?? 0}`
          : `the access log ends at entry ${seen}; the checkpoint has it up to ${entries ?? 0}`;
      this.#add({ what: 'checkpoint', record, entry: (seen ?? 0) + 1, message });
    }
  }

  /** Checks the counts for grants, except in records whose entries have faults. */
  async #checkCounts(): Promise<void> {
    const faulty = new Set(this.#faults.map(({ record }) => record));
    for (const { record, entries, seen } of await this.#rows(COUNTS)) {
      if (faulty.has(record)) continue;
      const message = `the counts of its grants' reads differ from the entries: ${entries ?? 0} instead of ${seen ?? 0}`;
      this.#add({ what: 'count', record, entry: null, message });
    }
  }

  async #rows(query: string): Promise<readonly HeadRow[]> {
    const { rows } = await this.session.query<HeadRow>(query, [this.limit]);
    return rows;
  }

  async #expected(records: readonly string[]): Promise<ReadonlyMap<string, AccessHead>> {
    const { rows } = await this.session.query<AccessHead>(
      'select record, entries::float8 as entries, hash from expected_access where record = any($1::uuid[])',
      [records],
    );
    return new Map(rows.map((head) => [head.record, head]));
  }

  async #seen(ends: readonly Walked[]): Promise<void> {
    await this.session.query(
      `insert into seen_access select * from unnest($1::uuid[], $2::int8[], $3::text[], $4::bool[])
       on conflict (record) do update set entries = excluded.entries, hash = excluded.hash`,
      [
        ends.map(({ record }) => record),
        ends.map(({ entries }) => entries),
        ends.map(({ hash }) => hash),
        ends.map(({ erased }) => erased),
      ],
    );
  }

  async #expect(heads: readonly AccessHead[]): Promise<void> {
    await this.session.query(
      'insert into expected_access select * from unnest($1::uuid[], $2::int8[], $3::text[])',
      [heads.map(({ record }) => record), heads.map(({ entries }) => entries), heads.map(({ hash }) => hash)],
    );
  }

  async #notePurges(found: ReadonlyMap<string, PurgeTrace>): Promise<void> {
    if (found.size === 0) return;
    const kept = [...found.values()].map(({ type, data }) => ({
      record: data.patient,
      ...(type === 'RecordErased' && 'access_log' in data ? data.access_log : { entries: null, hash: null }),
    }));
    await this.session.query(
      `insert into purged_access select * from unnest($1::uuid[], $2::int8[], $3::text[])
       on conflict (record) do update set entries = coalesce(excluded.entries, purged_access.entries),
         hash = coalesce(excluded.hash, purged_access.hash)`,
      [kept.map(({ record }) => record), kept.map(({ entries }) => entries), kept.map(({ hash }) => hash)],
    );
  }

  #add(fault: AccessLogFault): void {
    if (this.#faults.length < this.limit) this.#faults.push(fault);
  }
}
