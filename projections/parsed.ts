/**
 * Decodes events and parses their bodies once for all projections in this process: the first projection that asks for a tree
 * leaves it for the second. Events that a projection doesn't process are neither decoded nor passed to it. Unused trees are
 * dropped soon: trees of superseded versions in a batch, and all trees while the other projection runs elsewhere.
 */
import type { ResourceEvent, StoredEvent } from '#src/events/catalog.ts';
import { understand } from '#src/events/codec.ts';
import { requireKnownType } from '#src/events/newer.ts';
import type { RecordedEvent } from '#src/events/store.ts';
import { withAiLabel } from '#src/shared/access/ai-label.ts';
import { isByAi } from '#src/shared/access/caller.ts';
import { readStored, type StoredJson } from '#src/shared/json/json.ts';
import { CannotApply } from './failure.ts';
import type { Projection } from './projection.ts';

/**
 * Returns the events whose types a projection processes; all events if it names no types.
 * @throws CannotApply for a type that this software doesn't know: a later version of the projection may process it
 */
export function ownEvents(
  { name, types }: Pick<Projection, 'name' | 'types'>,
  events: readonly RecordedEvent[],
): readonly RecordedEvent[] {
  if (types === undefined) return events;
  return events.filter((event) => {
    if (types.has(event.type)) return true;
    try {
      requireKnownType(event);
    } catch (error) {
      throw new CannotApply(name, event, error);
    }
    return false;
  });
}

/** An event with a body. */
export type Version = Exclude<ResourceEvent, { readonly type: 'ResourceDeleted' }>;

/** The maximum total length of the bodies whose trees are kept; the trees take several times as much memory. */
const MOST_LEFT = 2_000_000;

/** How long a tree is kept, in ms: the second projection is only a batch or two behind. */
const LEFT_MS = 2_000;

const left = new Map<Version, StoredJson>();
let size = 0;
let forgetting: NodeJS.Timeout | undefined;

/** Returns an event's resource, read-only; decimals are represented as in `readStored`. */
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

/** Drops all trees, either because a record was erased or because they have expired. */
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

const known = new WeakMap<RecordedEvent, StoredEvent>();

/** Returns an event with the body in the form that reads show. */
function asRead(stored: StoredEvent): StoredEvent {
  const { event } = stored;
  if (!isByAi(stored.metadata) || !('body' in event)) return stored;
  return { ...stored, event: { ...event, body: withAiLabel(event.body) } };
}

/**
 * Decodes an event like `understand`, but adds HL7's label to a version that an AI wrote. For the same recorded event, returns
 * the same object again.
 */
export function decodeOnce(recorded: RecordedEvent): StoredEvent {
  const before = known.get(recorded);
  if (before !== undefined) return before;
  const event = asRead(understand(recorded));
  known.set(recorded, event);
  return event;
}
