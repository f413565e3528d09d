/** A record as of any moment: the fold over its events, as far as that moment. Pure. */

import type { EventMetadata } from '#src/events/metadata.ts';
import type { RecordedEvent } from '#src/events/store.ts';
import { withAiLabel } from '#src/shared/access/ai-label.ts';
import { isByAi } from '#src/shared/access/caller.ts';
import { tooCostly } from '#src/shared/load/answer-budget.ts';
import type { Moment } from '#src/shared/time/moment.ts';
import { toMicros } from '#src/shared/time/time.ts';
import { Replay } from './replay.ts';

/** A resource of a record, at a moment. */
export interface ResourceAt {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  /** Instant of that version. */
  readonly recordedAt: string;
  /** The exact FHIR JSON text of that version as reads show it; undefined when it was deleted then. */
  readonly body: string | undefined;
  /** Metadata of that version's event, such as its author. */
  readonly metadata: EventMetadata;
}

/** A record at a moment. */
export interface RecordAt {
  /** Resources by id, in the order of their creation. */
  readonly resources: ReadonlyMap<string, ResourceAt>;
  /** The number of events up to that moment. */
  readonly events: number;
  /** The revision of the last of them. */
  readonly revision: number | undefined;
  /** Instant of the last of them. */
  readonly recordedAt: string | undefined;
  /** The first revision with a broken hash chain; undefined if the chain is intact so far. */
  readonly brokenAt: number | undefined;
}

/**
 * Folds a record's events, in order of revision, up to and including a moment. Reading stops there.
 * @param events of one `record-` stream, from revision 0.
 * @param isPast tells whether an event comes after a position of its store.
 * @param most bytes of the bodies that are held; default: no limit.
 * @param note gets each version.
 * @throws UnreadableEvent; Refusal too_large (413, `too-costly`) when the record has more than `most`
 */
export async function recordAt(
  events: AsyncIterable<RecordedEvent> | Iterable<RecordedEvent>,
  moment: Moment,
  isPast: (event: Pick<RecordedEvent, 'position'>, position: string) => boolean,
  most = Number.POSITIVE_INFINITY,
  note: (version: ResourceAt) => void = () => undefined,
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
      const written = event.type === 'ResourceDeleted' ? undefined : event.body;
      const body = written !== undefined && isByAi(metadata) ? withAiLabel(written) : written;
      bytes += (body?.length ?? 0) - (resources.get(event.resourceId)?.body?.length ?? 0);
      if (bytes > most) throw tooCostly(`would exceed ${most} bytes`);
      const version: ResourceAt = {
        type: event.resourceType,
        id: event.resourceId,
        version: event.version,
        recordedAt: metadata.recorded_at,
        body,
        metadata,
      };
      resources.set(event.resourceId, version);
      note(version);
    }
  }
  return { resources, events: count, revision: last, recordedAt, brokenAt: replay.brokenAt };
}

/**
 * Returns the current resources as a `collection` Bundle with their stored texts. `Bundle.timestamp` is the recorded
 * time of the last event, so equal states give equal texts whatever moment was requested.
 * @param base of the FHIR interface, without a trailing slash: relative references resolve within the Bundle only if
 *   `fullUrl` is such a URL (https://hl7.org/fhir/R4/bundle.html#references)
 */
export function toCollection({ resources, recordedAt }: RecordAt, base: string): string {
  const entries = [...resources.values()].flatMap(({ type, id, body }) =>
    body === undefined ? [] : [`{"fullUrl":${JSON.stringify(`${base}/${type}/${id}`)},"resource":${body}}`],
  );
  const timestamp = recordedAt === undefined ? '' : `"timestamp":"${recordedAt}",`;
  return `{"resourceType":"Bundle","type":"collection",${timestamp}"entry":[${entries.join(',')}]}`;
}
