/** Computes a record as of any given time by folding its events up to that time. Pure. */

import type { EventMetadata } from '#src/events/metadata.ts';
import type { RecordedEvent } from '#src/events/store.ts';
import { withAiLabel } from '#src/shared/access/ai-label.ts';
import { isByAi } from '#src/shared/access/caller.ts';
import { tooCostly } from '#src/shared/load/answer-budget.ts';
import type { Moment } from '#src/shared/time/moment.ts';
import { toMicros } from '#src/shared/time/time.ts';
import { Replay } from './replay.ts';

/** A resource of a record at a given time. */
export interface ResourceAt {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  /** When this version was recorded. */
  readonly recordedAt: string;
  /** The version's exact FHIR JSON text as reads show it; undefined if the resource was deleted at that time. */
  readonly body: string | undefined;
  /** The metadata of the version's event, such as its author. */
  readonly metadata: EventMetadata;
}

/** A record at a given time. */
export interface RecordAt {
  /** Resources by id, in order of creation. */
  readonly resources: ReadonlyMap<string, ResourceAt>;
  /** The number of events up to that time. */
  readonly events: number;
  /** The revision of the last of these events. */
  readonly revision: number | undefined;
  /** When the last of these events was recorded. */
  readonly recordedAt: string | undefined;
  /** The first revision with a broken hash chain; undefined if the chain is intact so far. */
  readonly brokenAt: number | undefined;
}

/**
 * Folds a record's events, in order of revision, up to and including the given time, where reading stops.
 * @param events of one `record-` stream, from revision 0.
 * @param isPast returns whether an event comes after a position in its store.
 * @param most maximum total bytes of the bodies held in memory; default: no limit.
 * @param note receives each version.
 * @throws UnreadableEvent; Refusal too_large (413, `too-costly`) if the bodies exceed `most`
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
 * Returns the current resources as a `collection` Bundle with their stored text. `Bundle.timestamp` is the recorded time of
 * the last event, so equal states always produce equal text, whatever time was requested.
 * @param base URL of the FHIR interface, without a trailing slash; `fullUrl` must be below it, because otherwise relative
 *   references
 * don't resolve within the Bundle (https://hl7.org/fhir/R4/bundle.html#references)
 */
export function toCollection({ resources, recordedAt }: RecordAt, base: string): string {
  const entries = [...resources.values()].flatMap(({ type, id, body }) =>
    body === undefined ? [] : [`{"fullUrl":${JSON.stringify(`${base}/${type}/${id}`)},"resource":${body}}`],
  );
  const timestamp = recordedAt === undefined ? '' : `"timestamp":"${recordedAt}",`;
  return `{"resourceType":"Bundle","type":"collection",${timestamp}"entry":[${entries.join(',')}]}`;
}
