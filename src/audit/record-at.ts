/** A record as of any moment: the fold over its events, as far as that moment. Pure. */

import type { EventMetadata } from '#src/events/metadata.ts';
import type { RecordedEvent } from '#src/events/store.ts';
import { tooCostly } from '#src/shared/answer-budget.ts';
import type { Moment } from '#src/shared/moment.ts';
import { toMicros } from '#src/shared/time.ts';
import { Replay } from './replay.ts';

/** A resource of a record, at a moment. */
export interface ResourceAt {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  /** Instant of that version. */
  readonly recordedAt: string;
  /** The exact FHIR JSON text of that version; undefined when it was deleted then. */
  readonly body: string | undefined;
  /** Of that version's event: who wrote it, and the like. */
  readonly metadata: EventMetadata;
}

/** A record at a moment. */
export interface RecordAt {
  /** By id, in the order in which they came to be. */
  readonly resources: ReadonlyMap<string, ResourceAt>;
  /** Events that made it so. */
  readonly events: number;
  /** The revision of the last of them. */
  readonly revision: number | undefined;
  /** Instant of the last of them. */
  readonly recordedAt: string | undefined;
  /** The first revision at which the hash chain does not hold; undefined when it holds so far. */
  readonly brokenAt: number | undefined;
}

/**
 * Folds a record's events, in order of revision, up to and including a moment. Reading stops there.
 * @param events of one `record-` stream, from revision 0.
 * @param isPast whether an event stands after a position of the store that it comes from.
 * @param most bytes of the bodies that are held; default: no limit.
 * @throws UnreadableEvent; Refusal too_large (413, `too-costly`) when the record has more than `most`
 */
export async function recordAt(
  events: AsyncIterable<RecordedEvent> | Iterable<RecordedEvent>,
  moment: Moment,
  isPast: (event: Pick<RecordedEvent, 'position'>, position: string) => boolean,
  most = Number.POSITIVE_INFINITY,
): Promise<RecordAt> {
  const resources = new Map<string, ResourceAt>();
  let count = 0;
  let bytes = 0;
  let last: number | undefined;
  let recordedAt: string | undefined;
  const replay = new Replay(events);
  for await (const stored of replay) {
    const { metadata, event, revision } = stored;
    if (moment.kind === 'revision' && revision > moment.revision) break;
    if (moment.kind === 'time' && toMicros(metadata.recorded_at) > moment.micros) break;
    if (moment.kind === 'position' && isPast(stored, moment.position)) break;
    count += 1;
    last = revision;
    recordedAt = metadata.recorded_at;
    if (
      event.type === 'ResourceCreated' ||
      event.type === 'ResourceUpdated' ||
      event.type === 'ResourceDeleted'
    ) {
      const body = event.type === 'ResourceDeleted' ? undefined : event.body;
      bytes += (body?.length ?? 0) - (resources.get(event.resourceId)?.body?.length ?? 0);
      if (bytes > most) throw tooCostly(`would exceed ${most} bytes`);
      resources.set(event.resourceId, {
        type: event.resourceType,
        id: event.resourceId,
        version: event.version,
        recordedAt: metadata.recorded_at,
        body,
        metadata,
      });
    }
  }
  return { resources, events: count, revision: last, recordedAt, brokenAt: replay.brokenAt };
}

/**
 * The living resources as a `collection` Bundle; the resources' own texts, joined. `Bundle.timestamp` is when the last
 * of the events was recorded, so that the same state is the same text, whatever moment was asked for.
 * @param base of the FHIR interface, without a slash at its end: relative references resolve within the Bundle only where
 * `fullUrl` is such a URL (https://hl7.org/fhir/R4/bundle.html#references).
 */
export function toCollection({ resources, recordedAt }: RecordAt, base: string): string {
  const entries = [...resources.values()].flatMap(({ type, id, body }) =>
    body === undefined ? [] : [`{"fullUrl":${JSON.stringify(`${base}/${type}/${id}`)},"resource":${body}}`],
  );
  const timestamp = recordedAt === undefined ? '' : `"timestamp":"${recordedAt}",`;
  return `{"resourceType":"Bundle","type":"collection",${timestamp}"entry":[${entries.join(',')}]}`;
}
