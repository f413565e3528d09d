/**
 * Checks the log while it is read: the hash chain and revisions of every stream, the version numbers of every resource, and
 * that no events are left of records reported as erased. The last event seen for each stream and resource is kept in temporary
 * tables, so memory use doesn't grow with the log.
 */

import type { ClientBase } from 'pg';
import { describeFailure } from '#src/database/failure.ts';
import type { StoredEvent } from '#src/events/catalog.ts';
import { isErased } from '#src/events/erased.ts';
import type { EventMetadata } from '#src/events/metadata.ts';
import { NewerEvent } from '#src/events/newer.ts';
import type { EventStore, RecordedEvent } from '#src/events/store.ts';
import { recordPatient, recordStream } from '#src/events/streams.ts';
import { UnreadableEvent } from '#src/events/unreadable.ts';
import { type ErasureTrace, readTraces } from '../erasure.ts';
import { isResourceEvent } from '../owner.ts';
import { decodeOnce } from '../parsed.ts';
import { ChainCheck, type NamedHead } from './chain-check.ts';

/** A fault in the log itself. */
export interface LogFault {
  /**
   * `hash`: an event was altered or moved; `revision`: a stream's events are missing or duplicated; `version`: the same for a
   * resource's versions; `form`: an unreadable event; `newer`: an event that a newer version of Annal wrote, the first of its
   * type and version; `erasure`: an erased record has events; `checkpoint`: a stream's history differs from the checkpoint's,
   * or ends before it; `id`: a duplicate event id; `identity`: the log's first event isn't the installation's.
   */
  readonly what:
    | 'hash'
    | 'revision'
    | 'version'
    | 'form'
    | 'newer'
    | 'erasure'
    | 'checkpoint'
    | 'id'
    | 'identity';
  readonly stream: string;
  readonly revision: number;
  /** The event's id; null if the fault is a missing event. */
  readonly event: string | null;
  /** `Type/id` of the event's resource, if known. */
  readonly resource?: string;
  readonly message: string;
}

/** A record that is in the checkpoint but has been purged since. */
export interface ErasedSince {
  readonly patient: string;
  /** Instant of `RecordErasureRequested`. */
  readonly requested: string;
  /** Instant of `RecordErased`; null while the purge is in progress. */
  readonly erased: string | null;
  /**
   * The request that asked for the purge, and the key or application that it used or, if it used neither, the kind of
   * credential.
   */
  readonly request_id: string;
  readonly credential: string;
}

/** Checks the log during a single pass from its beginning. */
export class LogCheck {
  readonly faults: LogFault[] = [];
  readonly chains: ChainCheck;
  #events = 0;
  /** The event types and versions from newer versions of Annal that have already been reported. */
  readonly #newer = new Set<string>();
  /** Streams that contain such events; the versions of their resources aren't known. */
  readonly #partly = new Set<string>();

  /**
   * @param session contains the temporary tables; must not be used by anything else in the meantime
   * @param store tells whether a stream was erased
   * @param limit the maximum number of faults to list
   */
  constructor(
    private readonly session: ClientBase,
    private readonly store: Pick<EventStore, 'read' | 'subscribe' | 'head'>,
    private readonly limit: number,
  ) {
    this.chains = new ChainCheck(session);
  }

  /** The number of events checked so far. */
  get events(): number {
    return this.#events;
  }

  /** Returns true if a stream has an event that a newer version of Annal wrote. */
  hasNewer(stream: string): boolean {
    return this.#partly.has(stream);
  }

  /**
   * Creates the temporary tables.
   * @param heads where streams ended when a checkpoint was made
   */
  async begin(heads?: AsyncIterable<NamedHead>): Promise<void> {
    await this.chains.begin();
    await this.session.query(
      `create temp table seen_resource (id uuid primary key, version int not null);
       create temp table seen_event (id uuid not null, stream text not null, revision int not null)`,
    );
    if (heads !== undefined) await this.chains.expect(heads);
  }

  /**
   * Checks the next events, in order.
   * @returns the events that can be read
   */
  async check(events: readonly RecordedEvent[]): Promise<StoredEvent[]> {
    this.#events += events.length;
    await this.session.query(
      'insert into seen_event select * from unnest($1::uuid[], $2::text[], $3::int[])',
      [
        events.map(({ id }) => id),
        events.map(({ stream }) => stream),
        events.map(({ revision }) => revision),
      ],
    );
    const altered = new Set<string | null>();
    for (const { what, event, message } of await this.chains.check(events)) {
      altered.add(event.id);
      await this.#report(what, event, message);
    }
    const readable: StoredEvent[] = [];
    for (const event of events) {
      try {
        readable.push(decodeOnce(event));
      } catch (error) {
        if (error instanceof NewerEvent && !altered.has(event.id)) {
          const kind = `${event.type} ${error.version}`;
          if (!this.#newer.has(kind)) this.#add('newer', event, error.summary);
          this.#newer.add(kind);
          this.#partly.add(event.stream);
          continue;
        }
        const reason = error instanceof UnreadableEvent ? error.reason : describeFailure(error);
        await this.#report('form', event, `cannot be read: ${reason}`);
      }
    }
    await this.#checkVersions(readable);
    await this.#checkErasures(readable);
    return readable;
  }

  /** Reports duplicate ids, once all events have been checked. (Stores look for an id only in its own stream.) */
  async checkIds(): Promise<void> {
    const { rows } = await this.session.query<{
      id: string;
      stream: string;
      revision: number;
      other: string;
    }>(
      `select id, stream, revision, first_value(stream || ' at ' || revision) over places as other
         from seen_event where id in (select id from seen_event group by id having count(*) > 1)
       window places as (partition by id order by stream, revision)
        order by id, stream, revision limit $1`,
      [this.limit * 2],
    );
    for (const { other, ...place } of rows) {
      if (other !== `${place.stream} at ${place.revision}`)
        await this.#report('id', place, `the same event id also occurs in ${other}`);
    }
  }

  /**
   * Reports streams that end before the checkpoint, once all events have been checked.
   * @returns the streams that have been purged since
   */
  async checkLost(): Promise<ErasedSince[]> {
    const lost = await this.chains.lost();
    const patients = lost.flatMap(({ stream }) => recordPatient(stream) ?? []);
    const traces = await readTraces(this.store, new Set(patients));
    const erased: ErasedSince[] = [];
    for (const { stream, revision, seen } of lost) {
      const patient = recordPatient(stream);
      const trace = patient === undefined ? undefined : traces.get(patient);
      if (patient !== undefined && trace !== undefined && (seen === null || (await this.#isErased(stream)))) {
        erased.push(erasedSince(patient, trace));
      } else {
        const message =
          seen === null
            ? `the stream is missing; the checkpoint has it up to revision ${revision}`
            : `the stream ends at revision ${seen}; the checkpoint has it up to ${revision}`;
        this.#add('checkpoint', { stream, revision: seen === null ? 0 : seen + 1, id: null }, message);
      }
    }
    return erased;
  }

  async #checkVersions(events: readonly StoredEvent[]): Promise<void> {
    const changes = events.filter(isResourceEvent);
    const ids = [...new Set(changes.map(({ event }) => event.resourceId))];
    const { rows } = await this.session.query<{ id: string; version: number }>(
      'select id, version from seen_resource where id = any($1::uuid[])',
      [ids],
    );
    const versions = new Map(rows.map(({ id, version }) => [id, version]));
    for (const stored of changes) {
      const { resourceType, resourceId, version } = stored.event;
      const before = versions.get(resourceId) ?? 0;
      if (version !== before + 1 && !this.#partly.has(stored.stream)) {
        const message = `version ${version} of ${resourceType}/${resourceId} follows ${before}`;
        await this.#report('version', stored, message);
      }
      versions.set(resourceId, version);
    }
    await this.session.query(
      `insert into seen_resource select * from unnest($1::uuid[], $2::int[])
       on conflict (id) do update set version = excluded.version`,
      [ids, ids.map((id) => versions.get(id))],
    );
  }

  async #checkErasures(events: readonly StoredEvent[]): Promise<void> {
    for (const stored of events) {
      if (stored.event.type !== 'RecordErased') continue;
      const { patient } = stored.event.data;
      const stream = recordStream(patient);
      if (!(await this.chains.has(stream))) continue;
      // A store may still return events from a stream that it has removed, until it is scavenged.
      if (await isErased(this.store, patient)) await this.chains.forget(stream);
      else await this.#report('erasure', stored, `record ${patient} was erased but still has events`);
    }
  }

  async #isErased(stream: string): Promise<boolean> {
    const patient = recordPatient(stream);
    return patient !== undefined && isErased(this.store, patient);
  }

  /** Reports a fault, unless the stream was erased during the check. */
  async #report(what: LogFault['what'], event: Place, message: string): Promise<void> {
    if (this.faults.length < this.limit && !(await this.#isErased(event.stream))) {
      this.#add(what, event, message);
    }
  }

  #add(what: LogFault['what'], place: Place, message: string): void {
    const { stream, revision, id } = place;
    if (this.faults.length >= this.limit) return;
    const resource = resourceIn(place);
    this.faults.push({
      what,
      stream,
      revision,
      event: id,
      ...(resource === undefined ? {} : { resource }),
      message,
    });
  }
}

/** The location of a fault: an event or a gap. */
interface Place {
  readonly stream: string;
  readonly revision: number;
  readonly id: string | null;
  /** The stored event. */
  readonly data?: string;
  /** The decoded event. */
  readonly event?: StoredEvent['event'];
}

function resourceIn({ data, event }: Place): string | undefined {
  if (event !== undefined)
    return 'resourceId' in event ? `${event.resourceType}/${event.resourceId}` : undefined;
  const [, type, id] = /^\{"resource_type":"(\w+)","resource_id":"([0-9a-f-]{36})"/.exec(data ?? '') ?? [];
  return type === undefined ? undefined : `${type}/${id}`;
}

function erasedSince(patient: string, { requested, erased }: ErasureTrace): ErasedSince {
  return {
    patient,
    requested: requested.metadata.recorded_at,
    erased: erased?.metadata.recorded_at ?? null,
    request_id: requested.metadata.request_id,
    credential: heldBy(requested.metadata.credential),
  };
}

/** Returns the key or application of the credential or, if it has neither, its kind. */
function heldBy({ key_id: key, application, kind }: EventMetadata['credential']): string {
  return key ?? application ?? kind;
}
