/**
 * Directory entries that a transaction on a record creates. An event in the record's append carries them; afterwards they are
 * appended to the directory stream, with the ids from that event. Doing this twice has no effect.
 */
import type { Position } from '#src/events/store.ts';
import { isResourceType } from '#src/fhir/types.ts';
import { isObject, parseJson } from '#src/shared/json/json.ts';
import type { WriteResult } from '../command.ts';
import type { Streams } from '../kernel/streams.ts';
import type { Write } from '../resource/decide.ts';
import type { Carrying, Completed } from '../resource/deps.ts';
import { createMissing } from '../resource/resume.ts';
import type { Resources } from '../resource/state.ts';

/**
 * Writes the directory entries of a `DirectoryEntriesCarried` event that are still missing.
 * @returns a result for each missing entry, and the position of the append
 */
export async function completeCarried(
  resources: Streams<Resources>,
  { metadata, event }: Carrying,
  now: () => number,
): Promise<Completed> {
  if (event.type !== 'DirectoryEntriesCarried')
    throw new TypeError(`${event.type} carries no directory entries`);
  const { stream, entries } = event.data;
  const writes = entries.map((entry): Create => {
    const { value, exact } = parseJson(entry.resource);
    if (!isResourceType(entry.resource_type) || !isObject(value))
      throw new TypeError('a carried entry is not a resource');
    const { event_id: eventId, resource_id: id } = entry;
    return { kind: 'create', eventId, type: entry.resource_type, id, resource: { value, exact } };
  });
  const {
    schema_version: _version,
    recorded_at: _at,
    append: _append,
    owner,
    hash: _hash,
    ...base
  } = metadata;
  const results: WriteResult[] = [];
  let position: Position | undefined;
  // Each entry gets a copy of the carrying event's metadata, so the entries together may exceed the limit of one append.
  for (const some of inChunks(writes, entries)) {
    const handled = await resources.handle<WriteResult[]>({
      stream,
      metadata: base,
      now,
      ...(owner === undefined ? {} : { owner }),
      touches: some.map((write) => write.id),
      decide: (state, clock) => createMissing(state, clock, some),
    });
    results.push(...handled.result);
    position = handled.position ?? position;
  }
  return { results, position };
}

type Create = Extract<Write, { kind: 'create' }>;

/** Well below the limit of an append, leaving room for metadata with the longest headers. */
const CHUNK_BYTES = 4_000_000;
const CHUNK_ENTRIES = 500;

function* inChunks(
  writes: readonly Create[],
  entries: readonly { readonly resource: string }[],
): Generator<Create[]> {
  let chunk: Create[] = [];
  let bytes = 0;
  for (const [index, write] of writes.entries()) {
    const size = Buffer.byteLength(entries[index]?.resource ?? '');
    if (chunk.length === CHUNK_ENTRIES || (chunk.length > 0 && bytes + size > CHUNK_BYTES)) {
      yield chunk;
      [chunk, bytes] = [[], 0];
    }
    chunk.push(write);
    bytes += size;
  }
  if (chunk.length > 0) yield chunk;
}
