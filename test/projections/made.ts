/** Made-up events: small records in which a test knows every text in advance. */
import { randomUUID } from 'node:crypto';
import { CATALOG, type DomainEvent, type StoredEvent } from '#src/events/catalog.ts';
import { seal } from '#src/events/chain.ts';
import { encode, understand } from '#src/events/codec.ts';
import type { EventMetadata } from '#src/events/metadata.ts';
import type { EventStore, NewEvent, Position, StreamHead } from '#src/events/store.ts';
import { directoryStream, projectStream, recordStream } from '#src/events/streams.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import { newUuid } from '#src/shared/ids.ts';
import { toInstant } from '#src/shared/time/time.ts';

/** The owner of all records, unless a test uses another. */
export const TENANT: Tenant = { project: 'proj_made', environment: 'sandbox' };
/** The time of the first event, in microseconds. */
export const BEGAN = 1_700_000_000_000_000;

let clock = BEGAN;

/** An event to append. */
export function made(event: DomainEvent, metadata: Partial<EventMetadata> = {}): NewEvent {
  clock += 1;
  const full = {
    schema_version: CATALOG[event.type].version,
    recorded_at: toInstant(clock),
    request_id: 'req_made',
    command_id: randomUUID(),
    append: [0, 1],
    owner: TENANT,
    credential: {
      kind: 'api_key',
      project: TENANT.project,
      environment: TENANT.environment,
      key_id: 'key_made',
    },
    author: { type: 'import' },
    ...metadata,
  };
  return { id: newUuid(), type: event.type, data: encode(event), metadata: JSON.stringify(full) };
}

/** Returns a resource's body as the service would store it. */
export function body(type: string, id: string, version: number, rest: object = {}): string {
  return JSON.stringify({ resourceType: type, id, meta: { versionId: String(version) }, ...rest });
}

/** `ResourceCreated`. */
export function created(
  type: string,
  id: string,
  rest: object = {},
  metadata: Partial<EventMetadata> = {},
): NewEvent {
  return made(
    {
      type: 'ResourceCreated',
      resourceType: type,
      resourceId: id,
      version: 1,
      body: body(type, id, 1, rest),
    },
    metadata,
  );
}

/** `ResourceUpdated`. */
export function updated(type: string, id: string, version: number, rest: object = {}): NewEvent {
  const text = body(type, id, version, rest);
  return made({ type: 'ResourceUpdated', resourceType: type, resourceId: id, version, body: text });
}

/** `ResourceDeleted`. */
export function deleted(type: string, id: string, version: number): NewEvent {
  return made({ type: 'ResourceDeleted', resourceType: type, resourceId: id, version });
}

/** Returns a `RecordErasureRequested` event. */
export function erasureRequested(patient: string): NewEvent {
  return made({ type: 'RecordErasureRequested', data: { patient, environment: TENANT.environment } });
}

/** `RecordErased`. */
export function erased(patient: string): NewEvent {
  return made({
    type: 'RecordErased',
    data: { patient, environment: TENANT.environment, grants: [], access_log: { entries: 0, hash: null } },
  });
}

let numbered = 0;

/** Returns events as a store would return them, for calling `project` directly. */
export function stored(stream: string, events: readonly NewEvent[]): StoredEvent[] {
  return seal(stream, 'none', events).events.map((event) => {
    numbered += 1;
    return understand({ ...event, stream, position: String(numbered).padStart(16, '0') as Position });
  });
}

/** Appends to a store's streams, remembering the head of each. */
export class Streams {
  readonly #heads = new Map<string, StreamHead>();
  constructor(private readonly store: EventStore) {}

  /**
   * Appends events to a stream.
   * @returns the position of the last event
   */
  async append(stream: string, ...events: NewEvent[]): Promise<Position> {
    const { head, position } = await this.store.append(stream, this.#heads.get(stream) ?? 'none', events);
    this.#heads.set(stream, head);
    return position;
  }

  /** Appends to a patient's record. */
  record(patient: string, ...events: NewEvent[]): Promise<Position> {
    return this.append(recordStream(patient), ...events);
  }

  /** Appends to the tenant's directory. */
  directory(...events: NewEvent[]): Promise<Position> {
    return this.append(directoryStream(TENANT), ...events);
  }

  /** Appends to the project's own stream. */
  project(...events: NewEvent[]): Promise<Position> {
    return this.append(projectStream(TENANT.project), ...events);
  }
}

/** Waits until the given condition is true; fails after `ms`. */
export async function until(condition: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not so within ${ms} ms: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
