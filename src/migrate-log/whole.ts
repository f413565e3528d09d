/** Restores a log's appends for copying: complete, and in the form in which their writer submitted them. */
import { placeInAppend } from '#src/events/batches.ts';
import { GENESIS, verifyLink } from '#src/events/chain.ts';
import type { Expected, NewEvent, RecordedEvent } from '#src/events/store.ts';
import { describeEvent, LogsDiffer } from './difference.ts';

/** The events of one append. */
export interface Whole {
  readonly stream: string;
  readonly events: readonly [RecordedEvent, ...RecordedEvent[]];
  readonly bytes: number;
  /**
   * True if the append is complete. It isn't if its stream was erased while it was read and ends in the middle of the append.
   */
  readonly complete: boolean;
}

/** Returns the appends in a batch; a batch never ends in the middle of an append. */
export function wholes(all: readonly RecordedEvent[]): Whole[] {
  const found: Whole[] = [];
  for (let i = 0; i < all.length; ) {
    const first = all[i];
    if (first === undefined) break;
    const { stream } = first;
    const { index, count } = placeInAppend(first);
    const rest: RecordedEvent[] = [];
    for (let n = i + 1; n < i + count - index && all[n]?.stream === stream; n += 1) {
      const event = all[n];
      if (event !== undefined) rest.push(event);
    }
    const of = [first, ...rest] as const;
    const bytes = of.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0);
    found.push({ stream, events: [first, ...rest], bytes, complete: index === 0 && of.length === count });
    i += of.length;
  }
  return found;
}

/**
 * Returns the events in the form in which a writer submits them, without the hashes, which the target adds.
 * @throws LogsDiffer
 */
export function unsealed({ events: all }: Whole, expected: Expected): NewEvent[] {
  let previous = expected === 'none' ? GENESIS : expected.hash;
  return all.map((event) => {
    const hash = verifyLink(previous, event);
    if (hash === undefined) {
      throw new LogsDiffer(
        `hash mismatch in the source at ${describeEvent(event)}; run annal verify for details`,
      );
    }
    previous = hash;
    const { id, type, data, metadata } = event;
    return { id, type, data, metadata: `${metadata.slice(0, -`,"hash":"${hash}"}`.length)}}` };
  });
}
