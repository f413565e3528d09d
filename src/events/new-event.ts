/** Events on their way into the store. */
import { mapSteps, type Steps } from '../shared/load/slices.ts';
import { type Micros, toInstant } from '../shared/time/time.ts';
import { CATALOG, type DomainEvent } from './catalog.ts';
import { encode } from './codec.ts';
import type { EventMetadata } from './metadata.ts';
import type { NewEvent } from './store.ts';
import { requireEventAllowed } from './streams.ts';

/** An event as a decision drafts it. */
export interface Draft {
  /** The event's id, derived from the command's seed. */
  readonly id: string;
  /** Later than the event before it in the stream. Bodies contain it. */
  readonly at: Micros;
  readonly event: DomainEvent;
  /** Its author, if the append has several. */
  readonly by?: Pick<EventMetadata, 'author' | 'source_system'>;
}

/**
 * Yields the events of one append in the form of the store, with metadata that includes version, time and
 * index in the append. One event per step, because bodies may be large.
 * @throws ForeignEvent when the stream can't hold one; Refusal invalid (422) for text that can't be stored.
 */
export function newEvents(
  stream: string,
  drafts: readonly Draft[],
  shared: Omit<EventMetadata, 'schema_version' | 'recorded_at' | 'append'>,
): Steps<NewEvent[]> {
  return mapSteps(drafts, ({ id, at, event, by }, index) => {
    requireEventAllowed(stream, event.type);
    const { owner, ...others } = shared;
    const metadata: EventMetadata = {
      schema_version: CATALOG[event.type].version,
      ...others,
      ...by,
      recorded_at: toInstant(at),
      append: [index, drafts.length],
      ...(owner === undefined ? {} : { owner }),
    };
    return { id, type: event.type, data: encode(event), metadata: JSON.stringify(metadata) };
  });
}
