/**
 * Checks the log as it is read: the hash chain and revisions of every stream, the version numbers of every resource,
 * and that records said to be erased are gone. What was seen last of each stream and resource is kept in temporary
 * tables, so that memory does not grow with the log.
 */
import type { ClientBase } from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import { GENESIS, hashOf, verifyLink } from '#src/events/chain.ts';
import type { RecordedEvent } from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';
import { isResourceEvent } from './owner.ts';
import { understood } from './understood.ts';

/** A fault of the log itself. */
export interface LogFault {
  /**
   * `hash`: an event is not what was written, or not where it was; `revision`: events of a stream are missing or
   * doubled; `version`: those of a resource; `form`: an event that cannot be read; `erasure`: an erased record has events.
   */
  readonly what: 'hash' | 'revision' | 'version' | 'form' | 'erasure';
  readonly stream: string;
  readonly revision: number;
  readonly event: string;
  readonly message: string;
}

interface Seen {
  readonly revision: number;
  /** Undefined when the last event bears none: the next cannot be checked. */
  readonly hash: string | undefined;
}

/** Reads through the log once, from its beginning. */
export class LogCheck {
  readonly faults: LogFault[] = [];
  #events = 0;

  /**
   * @param session keeps the temporary tables; nobody else uses it meanwhile.
   * @param limit most faults to name; the others are counted by nobody.
   */
  constructor(
    private readonly session: ClientBase,
    private readonly limit: number,
  ) {}

  /** Events checked so far. */
  get events(): number {
    return this.#events;
  }

  /** Makes the temporary tables. */
  async begin(): Promise<void> {
    await this.session.query(`
      create temp table seen_stream (stream text primary key, revision int not null, hash text);
      create temp table seen_resource (id uuid primary key, version int not null)`);
  }

  /** How many streams there are. */
  async streams(): Promise<number> {
    const { rows } = await this.session.query<{ n: number }>('select count(*) as n from seen_stream');
    return rows[0]?.n ?? 0;
  }

  /** Checks the next events, in order. */
  async check(events: readonly RecordedEvent[]): Promise<void> {
    this.#events += events.length;
    await this.#checkChains(events);
    const readable = events.flatMap((event) => {
      try {
        return [understood(event)];
      } catch (error) {
        this.#report(
          'form',
          event,
          `cannot be read: ${error instanceof Error ? error.message : String(error)}`,
        );
        return [];
      }
    });
    await this.#checkVersions(readable);
    await this.#checkErasures(readable);
  }

  async #checkChains(events: readonly RecordedEvent[]): Promise<void> {
    const { session } = this;
    const streams = [...new Set(events.map(({ stream }) => stream))];
    const { rows } = await session.query<Seen & { stream: string }>(
      'select stream, revision, hash from seen_stream where stream = any($1)',
      [streams],
    );
    const seen = new Map<string, Seen>(rows.map((row) => [row.stream, row]));
    for (const event of events) {
      const { revision, hash } = seen.get(event.stream) ?? { revision: -1, hash: GENESIS };
      if (event.revision !== revision + 1) {
        this.#report('revision', event, `revision ${event.revision} follows ${revision}`);
      } else if (hash !== undefined && verifyLink(hash, event) === undefined) {
        this.#report('hash', event, 'the event or its predecessor is not as it was written');
      }
      seen.set(event.stream, { revision: event.revision, hash: hashOf(event) });
    }
    await session.query(
      `insert into seen_stream select * from unnest($1::text[], $2::int[], $3::text[])
       on conflict (stream) do update set revision = excluded.revision, hash = excluded.hash`,
      [
        streams,
        streams.map((stream) => seen.get(stream)?.revision),
        streams.map((stream) => seen.get(stream)?.hash ?? null),
      ],
    );
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
      if (version !== before + 1) {
        this.#report(
          'version',
          stored,
          `version ${version} of ${resourceType}/${resourceId} follows ${before}`,
        );
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
      const { rowCount } = await this.session.query('select 1 from seen_stream where stream = $1', [stream]);
      if (rowCount !== 0)
        this.#report('erasure', stored, `record ${patient} was erased and still has events`);
    }
  }

  #report(
    what: LogFault['what'],
    { stream, revision, id }: Pick<RecordedEvent, 'stream' | 'revision' | 'id'>,
    message: string,
  ): void {
    if (this.faults.length < this.limit) this.faults.push({ what, stream, revision, event: id, message });
  }
}
