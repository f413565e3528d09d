/**
 * Bodies of events, parsed once for the two projections that look into them: who comes first leaves what it read, who
 * comes second takes it away. What nobody takes is forgotten soon: versions that another one follows in a batch, and all
 * while the other projection runs elsewhere.
 */
import type { ResourceEvent } from '#src/events/catalog.ts';
import { readStored, type StoredJson } from '#src/shared/stored-json.ts';

/** An event that has a body. */
export type Version = Exclude<ResourceEvent, { readonly type: 'ResourceDeleted' }>;

/** How long the bodies may be together whose trees are left, in characters; trees take several times that. */
const MOST_LEFT = 2_000_000;

/** How long anything is left at most, in ms: the second projection follows the first by a batch or two. */
const LEFT_MS = 2_000;

const left = new Map<Version, StoredJson>();
let size = 0;
let forgetting: NodeJS.Timeout | undefined;

/** The resource of an event, to be read only; decimals as `readStored` gives them. */
export function parsedOnce(event: Version): StoredJson {
  const known = left.get(event);
  if (known !== undefined) {
    drop(event);
    return known;
  }
  const read = readStored(event.body);
  left.set(event, read);
  size += event.body.length;
  forgetting ??= setTimeout(forgetParsed, LEFT_MS).unref();
  for (const oldest of left.keys()) {
    if (size <= MOST_LEFT) break;
    drop(oldest);
  }
  return read;
}

/** Forgets what is left: a record was erased, or it is time. */
export function forgetParsed(): void {
  clearTimeout(forgetting);
  forgetting = undefined;
  left.clear();
  size = 0;
}

function drop(event: Version): void {
  left.delete(event);
  size -= event.body.length;
}
