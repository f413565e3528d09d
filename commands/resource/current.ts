/** Reads a resource's current version and its body from the events, never from a read model, which may lag. */

import { understand } from '#src/events/codec.ts';
import { later } from '#src/events/position.ts';
import type { Entry } from '#src/events/snapshot-entries.ts';
import { BEGINNING, type Position, StreamDeleted } from '#src/events/store.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { withAiLabel } from '#src/shared/access/ai-label.ts';
import { isByAi } from '#src/shared/access/caller.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import type { WriteResult } from '../command.ts';
import type { Streams } from '../kernel/streams.ts';
import { findEntry, type Resources } from './state.ts';

/** A version as contained in its event. */
export interface Current {
  readonly version: number;
  readonly lastUpdated: string;
  /** FHIR JSON text; absent if the resource is deleted. */
  readonly body?: string;
  /** True if an AI wrote this version. */
  readonly byAi: boolean;
  /** The position of the version's event. */
  readonly position: Position;
}

/** Returns a version in the form that responses show. */
export function shownVersion({ byAi, position: _, ...current }: Current): Omit<Current, 'byAi' | 'position'> {
  const { body } = current;
  return byAi && body !== undefined ? { ...current, body: withAiLabel(body) } : current;
}

/**
 * Returns a resource's state after reading the stream to its end; undefined if the resource never existed.
 * @throws StreamDeleted
 */
export async function currentEntry(
  resources: Streams<Resources>,
  stream: string,
  id: string,
): Promise<Entry | undefined> {
  return findEntry((await resources.read(stream, [id])).state, id);
}

/**
 * Reads the current version from the end of the stream.
 * @throws Refusal not_found
 */
export async function currentVersion(
  resources: Streams<Resources>,
  stream: string,
  type: ResourceType,
  id: string,
): Promise<Current> {
  try {
    const entry = await currentEntry(resources, stream, id);
    if (entry === undefined) throw notFound(type, id);
    return await readVersion(resources, stream, entry);
  } catch (error) {
    if (error instanceof StreamDeleted) throw notFound(type, id);
    throw error;
  }
}

/** Returns the result of an entry that another request has completed in the meantime. */
export async function carriedResult(
  { resources }: { readonly resources: Streams<Resources> },
  stream: string,
  { type, id }: Pick<WriteResult, 'type' | 'id'>,
): Promise<WriteResult> {
  const { lastUpdated } = await currentVersion(resources, stream, type, id);
  return { outcome: 'created', type, id, version: 1, lastUpdated };
}

/**
 * Reads the version that a stream's entry refers to.
 * @throws StreamDeleted
 */
export async function readVersion(
  resources: Streams<Resources>,
  stream: string,
  { version, revision }: Entry,
): Promise<Current> {
  for await (const recorded of resources.kernel.store.read(stream, { from: revision, limit: 1 })) {
    const { event, metadata, position } = understand(recorded);
    const body =
      event.type === 'ResourceCreated' || event.type === 'ResourceUpdated' ? { body: event.body } : {};
    return { version, lastUpdated: metadata.recorded_at, byAi: isByAi(metadata), position, ...body };
  }
  throw new TypeError(`${stream} has no event ${revision}`);
}

/**
 * Returns the newest version that has a body: for a deleted resource, the version before the deletion.
 * @throws Refusal not_found
 */
async function lastWithBody(
  resources: Streams<Resources>,
  stream: string,
  type: ResourceType,
  id: string,
): Promise<Pick<Current, 'version' | 'byAi' | 'position'> & { readonly body: string }> {
  const { version, body, byAi, position } = await currentVersion(resources, stream, type, id);
  if (body !== undefined) return { version, body, byAi, position };
  const entry = await currentEntry(resources, stream, id);
  const before = { from: (entry?.revision ?? 0) - 1, direction: 'backwards' } as const;
  for await (const recorded of resources.kernel.store.read(stream, before)) {
    const { event, metadata } = understand(recorded);
    if ('body' in event && event.resourceId === id)
      return { version, body: event.body, byAi: isByAi(metadata), position };
  }
  throw notFound(type, id);
}

/**
 * The maximum total size, in bytes, of the current versions that one command may load; all of them stay in memory until the
 * decision.
 */
const MOST = 50_000_000;

/**
 * Loads the current versions that one command needs.
 * @throws Refusal too_large (413, `too-costly`) if their total size exceeds the limit
 */
export class CurrentVersions {
  /** The position of the newest event that was loaded. */
  seen: Position = BEGINNING;
  #bytes = 0;

  constructor(private readonly resources: Streams<Resources>) {}

  /** See `currentVersion`. */
  async current(stream: string, type: ResourceType, id: string): Promise<Current> {
    return this.#counted(await currentVersion(this.resources, stream, type, id));
  }

  /** See `lastWithBody`. */
  async lastWithBody(stream: string, type: ResourceType, id: string): ReturnType<typeof lastWithBody> {
    return this.#counted(await lastWithBody(this.resources, stream, type, id));
  }

  #counted<V extends { readonly body?: string; readonly position: Position }>(version: V): V {
    this.seen = later(this.seen, version.position);
    this.#bytes += version.body?.length ?? 0;
    if (this.#bytes <= MOST) return version;
    throw new Refusal('too_large', {
      code: 'too-costly',
      diagnostics: `the resources that this request changes or matches are larger than ${MOST} bytes together; split the request`,
    });
  }
}
