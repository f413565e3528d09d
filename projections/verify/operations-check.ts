/**
 * Compares the parts of the schema `operations` that are derived from events with the log: snapshots, parked events and
 * process positions. The rest of the schema (idempotency keys, the log's identity) can't be checked against events.
 */
import type { ClientBase } from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import { isErased } from '#src/events/erased.ts';
import { entriesIn } from '#src/events/snapshot-entries.ts';
import { SNAPSHOT_VERSION } from '#src/events/snapshot-version.ts';
import type { EventStore, Position } from '#src/events/store.ts';
import { recordPatient } from '#src/events/streams.ts';
import { toMicros } from '#src/shared/time/time.ts';

/** A row in the schema `operations` that contradicts the log. */
export interface OperationsFault {
  readonly table: 'snapshot' | 'snapshot_entry' | 'parked' | 'process';
  /** The stream and the other columns that identify the row. */
  readonly key: Readonly<Record<string, string | number>>;
  /** `changed`: the event differs; `orphan`: the event doesn't exist; `missing`: the row doesn't include an event. */
  readonly what: 'changed' | 'orphan' | 'missing';
  readonly message: string;
}

/** Copies the rows into temporary tables first, in one consistent read. */
const STAGE = `
  begin isolation level repeatable read;
  create temp table noted_snapshot (like operations.snapshot including all);
  insert into noted_snapshot select * from operations.snapshot where fold = ${SNAPSHOT_VERSION};
  create temp table noted_entry as
    select e.* from operations.snapshot_entry e join noted_snapshot s using (stream, fold);
  create temp table noted_parked as select stream, revision, event_id from operations.parked;
  create temp table derived_entry (
    stream text, id text, type text not null, version int not null, deleted boolean not null, revision int not null,
    primary key (stream, id));
  commit`;

interface Snapshot {
  readonly stream: string;
  readonly revision: number;
  readonly hash: string;
  readonly recorded_at: number;
  readonly project: string | null;
  readonly environment: string | null;
}

/** Checks the rows during a pass over the log, from its beginning. */
export class OperationsCheck {
  readonly faults: OperationsFault[] = [];
  #there = false;

  /**
   * @param session contains the temporary tables; must not be used by anything else in the meantime
   * @param limit the maximum number of faults to list
   */
  constructor(
    private readonly session: ClientBase,
    private readonly store: Pick<EventStore, 'read' | 'reached'>,
    private readonly limit: number,
  ) {}

  /** Copies the rows; does nothing in a database without the schema. */
  async begin(): Promise<void> {
    const { rowCount } = await this.session.query(
      "select where to_regclass('operations.parked') is not null",
    );
    this.#there = rowCount !== 0;
    if (this.#there) await this.session.query(STAGE);
  }

  /** Checks the next events, in order. */
  async check(events: readonly StoredEvent[]): Promise<void> {
    if (!this.#there) return;
    const streams = [...new Set(events.map(({ stream }) => stream))];
    await this.#checkParked(events, streams);
    const { rows } = await this.session.query<Snapshot>(
      'select * from noted_snapshot where stream = any($1)',
      [streams],
    );
    if (rows.length === 0) return;
    const snapshots = new Map(rows.map((row) => [row.stream, row]));
    for (const event of events) {
      const snapshot = snapshots.get(event.stream);
      if (snapshot?.revision === event.revision) await this.#checkHead(snapshot, event);
    }
    const entries = new Map<string, object>();
    for (const { stream, revision, event } of events) {
      if (revision > (snapshots.get(stream)?.revision ?? -1)) continue;
      for (const [id, entry] of entriesIn(event, revision))
        entries.set(`${stream} ${id}`, { stream, id, ...entry });
    }
    await this.session.query(
      `insert into derived_entry
       select * from json_to_recordset($1) as e(stream text, id text, type text, version int, deleted boolean, revision int)
       on conflict (stream, id) do update set type = excluded.type, version = excluded.version,
         deleted = excluded.deleted, revision = excluded.revision`,
      [JSON.stringify([...entries.values()])],
    );
  }

  /** Reports rows whose event doesn't exist, once all events have been read. */
  async end(): Promise<void> {
    if (!this.#there) return;
    await this.#endSnapshots();
    await this.#endEntries();
    await this.#endParked();
    const reached: Position = await this.store.reached();
    const { rows } = await this.session.query<{ name: string; position: Position }>(
      'select name, position from operations.process order by name',
    );
    for (const { name, position } of rows) {
      const message = `the process is at position ${position}, but the log ends at ${reached}`;
      if (position > reached) this.#add({ table: 'process', key: { name }, what: 'orphan', message });
    }
  }

  async #checkHead(snapshot: Snapshot, { stream, revision, metadata }: StoredEvent): Promise<void> {
    const { owner, hash, recorded_at } = metadata;
    const wrong = [
      ...(hash === snapshot.hash ? [] : ['hash']),
      ...(toMicros(recorded_at) === snapshot.recorded_at ? [] : ['recorded_at']),
      ...(owner === undefined || owner.project === snapshot.project ? [] : ['project']),
      ...(owner === undefined || owner.environment === snapshot.environment ? [] : ['environment']),
    ];
    await this.session.query('delete from noted_snapshot where stream = $1', [stream]);
    if (wrong.length === 0) return;
    const message = `${wrong.join(', ')} differ from the event`;
    this.#add({ table: 'snapshot', key: { stream, revision }, what: 'changed', message });
  }

  async #checkParked(events: readonly StoredEvent[], streams: readonly string[]): Promise<void> {
    const { rows } = await this.session.query<{ stream: string; revision: number; event_id: string }>(
      'delete from noted_parked where stream = any($1) and (stream, revision) in (select * from unnest($2::text[], $3::int[])) returning stream, revision, event_id',
      [streams, events.map(({ stream }) => stream), events.map(({ revision }) => revision)],
    );
    for (const { stream, revision, event_id } of rows) {
      if (
        events.some(
          (event) => event.stream === stream && event.revision === revision && event.id === event_id,
        )
      )
        continue;
      const message = `the stream has another event than ${event_id} at this revision`;
      this.#add({ table: 'parked', key: { stream, revision }, what: 'changed', message });
    }
  }

  async #endSnapshots(): Promise<void> {
    const { rows } = await this.session.query<Snapshot>('select * from noted_snapshot order by stream');
    for (const { stream, revision } of rows) {
      const message = 'the stream ends before this revision';
      await this.#addUnlessErased({ table: 'snapshot', key: { stream, revision }, what: 'orphan', message });
    }
  }

  async #endEntries(): Promise<void> {
    const { rows } = await this.session.query<{
      stream: string;
      id: string;
      noted: boolean;
      derived: boolean;
    }>(
      `select coalesce(n.stream, d.stream) as stream, coalesce(n.id, d.id) as id,
              n.id is not null as noted, d.id is not null as derived
         from noted_entry n full join derived_entry d on n.stream = d.stream and n.id = d.id
        where (n.type, n.version, n.deleted, n.revision) is distinct from (d.type, d.version, d.deleted, d.revision)
        order by 1, 2 limit $1`,
      [this.limit],
    );
    for (const { stream, id, noted, derived } of rows) {
      const what = noted ? (derived ? 'changed' : 'orphan') : 'missing';
      const message = {
        changed: 'type, version or status differs from the events',
        orphan: 'no event mentions this resource, grant or link',
        missing: 'the snapshot lacks a resource, grant or link that has events',
      }[what];
      await this.#addUnlessErased({ table: 'snapshot_entry', key: { stream, id }, what, message });
    }
  }

  async #endParked(): Promise<void> {
    const { rows } = await this.session.query<{ stream: string; revision: number }>(
      'select distinct stream, revision from noted_parked order by 1, 2',
    );
    for (const key of rows) {
      const message = 'the stream has no event at this revision';
      await this.#addUnlessErased({ table: 'parked', key: { ...key }, what: 'orphan', message });
    }
  }

  /** Adds a fault unless the record was erased: a purge removes these rows later than the events. */
  async #addUnlessErased(fault: OperationsFault): Promise<void> {
    const patient = recordPatient(String(fault.key.stream));
    if (patient === undefined || !(await isErased(this.store, patient))) this.#add(fault);
  }

  #add(fault: OperationsFault): void {
    if (this.faults.length < this.limit) this.faults.push(fault);
  }
}
