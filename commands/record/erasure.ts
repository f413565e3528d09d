/**
 * `_purge`: removes a record physically, as a process that a crash can only delay (docs/decisions/0004-purge-is-a-process.md).
 * First, `RecordErasureRequested` is written to the project's stream. The instance that leads the erasure process then deletes
 * the Patient and ends the grants in one append (subscribers are notified), waits until all reactions have processed this
 * append, deletes the rows that aren't events, erases the stream, and writes `RecordErased`, upon which projections delete
 * their rows. Every step can be repeated.
 */
import type { StoredEvent } from '#src/events/catalog.ts';
import { type Draft, understand } from '#src/events/codec.ts';
import { ALL_CONSENT } from '#src/events/snapshot-entries.ts';
import { type Position, StreamDeleted } from '#src/events/store.ts';
import { projectStream, recordStream } from '#src/events/streams.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import { IdSource, newUuid } from '#src/shared/ids.ts';
import { Refusal, unavailable } from '#src/shared/refusal.ts';
import type { MetadataBase, Written } from '../command.ts';
import { revokeAll } from '../consent/decide.ts';
import { activeGrants } from '../consent/held.ts';
import { PastOf } from '../consent/on-record.ts';
import type { Clock } from '../kernel/decision.ts';
import { retry, Stale } from '../kernel/kernel.ts';
import type { Streams } from '../kernel/streams.ts';
import type { ProjectState } from '../project/state.ts';
import { removeLive } from '../resource/resume.ts';
import { findEntry, type Resources } from '../resource/state.ts';
import { endedGrants, type GrantsOfErased } from './ended-grants.ts';

/** The data about an access log that `RecordErased` keeps. */
type ErasedAccess = Extract<StoredEvent['event'], { type: 'RecordErased' }>['data']['access_log'];

/** Dependencies of the erasure process. */
export interface ErasureDeps {
  readonly resources: Streams<Resources>;
  readonly projects: Streams<ProjectState>;
  readonly now: () => number;
  /** Waits until everything that reacts to a record's events has processed them up to a position. */
  readonly reacted: (position: Position, patientId: string) => Promise<void>;
  /** Deletes a record's data outside the log and the projections: documents, stored idempotent responses, and snapshots. */
  readonly forget: (patientId: string) => Promise<void>;
  /** Keeps the ended grants until `RecordErased` contains them. */
  readonly erased: GrantsOfErased;
  /**
   * Removes a record's access log, and prevents reads of the record from adding entries. A second run returns the same result.
   * @returns the number of entries, and the last entry's hash
   */
  readonly eraseAccessLog: (patientId: string) => Promise<ErasedAccess>;
  /**
   * Waits until every projection has passed a position. Returns false if one takes too long; the erasure then continues later.
   */
  readonly waitFor: (position: Position) => Promise<boolean>;
}

/** Carries out a `RecordErasureRequested`, continuing an earlier run if there was one. An erased record stays erased. */
export async function erase(deps: ErasureDeps, requested: StoredEvent): Promise<void> {
  const { event } = requested;
  if (event.type !== 'RecordErasureRequested')
    throw new TypeError(`${event.type} is not a request to erase a record`);
  const { patient, environment } = event.data;
  const done = await erasedAt(deps.projects, requested, patient);
  const position = done ?? (await eraseRecord(deps, requested, patient, environment));
  if (position !== undefined && !(await deps.waitFor(position)))
    throw unavailable('the read models do not show the end of the record yet');
  // Until now, a search could still find the record, its response could be stored for retries, and a grant could still get
  // codes and tokens.
  await deps.forget(patient);
  // A PostgreSQL database that was restored from a backup made before the purge contains the access log again.
  if (done !== undefined) await deps.eraseAccessLog(patient);
  await deps.erased.done(patient);
}

/**
 * Runs the steps up to `RecordErased`.
 * @returns the position of `RecordErased`
 */
async function eraseRecord(
  deps: ErasureDeps,
  requested: StoredEvent,
  patient: string,
  environment: Tenant['environment'],
): Promise<Position | undefined> {
  const { id, metadata, stream } = requested;
  const {
    schema_version: _version,
    recorded_at: at,
    append: _append,
    hash: _hash,
    owner: _owner,
    ...base
  } = metadata;
  // Ids are derived from the request's event, so a second run deletes nothing twice.
  const ids = new IdSource(id, Date.parse(at));
  await endRecord(deps, base, patient, ids);
  const grants = await endedGrants(deps.resources.kernel.store, deps.erased, patient);
  await deps.forget(patient);
  await deps.resources.erase(recordStream(patient));
  await deps.forget(patient); // a command that was under way may have noted something before its stream was gone
  // From here on, reads of the record are refused; few reads are in progress, because its grants have ended.
  const access_log = await deps.eraseAccessLog(patient);
  const project = stream.slice(projectStream('').length);
  const { position } = await note(deps.projects, base, deps.now, project, ids.at(0, 'erased'), {
    type: 'RecordErased',
    data: { patient, environment, grants, access_log },
  });
  return position ?? erasedAt(deps.projects, requested, patient);
}

/** Returns the position of the event that reports the erasure in the project's stream. */
async function erasedAt(
  { kernel }: Streams<ProjectState>,
  requested: StoredEvent,
  patient: string,
): Promise<Position | undefined> {
  for await (const recorded of kernel.store.read(requested.stream, { from: requested.revision + 1 })) {
    if (recorded.type !== 'RecordErased') continue;
    const { event } = understand(recorded);
    if (event.type === 'RecordErased' && event.data.patient === patient) return recorded.position;
  }
  return undefined;
}

/**
 * Deletes the Patient, ends the grants, and waits until the reactions to both are finished; repeats this if the Patient has
 * been restored in the meantime. Does nothing if the stream is erased.
 */
async function endRecord(
  deps: ErasureDeps,
  metadata: MetadataBase,
  patient: string,
  ids: IdSource,
): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    const appended = await appendEnd(deps, metadata, patient, ids);
    if (appended === 'erased' || (appended === undefined && !isFirst)) return;
    // An earlier run may have appended the events before reactions could process them.
    await deps.reacted(appended ?? (await deps.resources.kernel.store.head()), patient);
  }
}

/** Returns the position of the append; undefined if there was nothing to end. */
async function appendEnd(
  deps: ErasureDeps,
  metadata: MetadataBase,
  patient: string,
  ids: IdSource,
): Promise<Position | 'erased' | undefined> {
  const stream = recordStream(patient);
  const past = new PastOf(deps.resources, stream);
  try {
    const { position } = await retry(Stale, async () => {
      await past.load(patient);
      return deps.resources.handle<void>({
        stream,
        metadata,
        now: deps.now,
        touches: [patient, ALL_CONSENT, ...past.ids],
        decide: (state, clock) => ({ drafts: ending(state, clock, past, patient, ids), result: undefined }),
      });
    });
    return position;
  } catch (error) {
    if (error instanceof StreamDeleted || (error instanceof Refusal && error.kind === 'not_found'))
      return 'erased';
    throw error;
  }
}

/**
 * Decides on the deletion of the Patient, then on the end of all grants, so that applications under a grant receive both
 * events. Event ids are derived from the ids of the ended objects, so a second run ends nothing twice.
 */
function ending(state: Resources, clock: Clock, past: PastOf, patient: string, ids: IdSource): Draft[] {
  past.require(activeGrants(state));
  const eventId = ids.at(findEntry(state, patient)?.version ?? 0, 'event');
  const { drafts } = removeLive(state, clock, [{ kind: 'remove', eventId, type: 'Patient', id: patient }]);
  const revocations = revokeAll('patient_purged')(state, past.at, clock.next()).events.map((event) => ({
    id: ids.at(0, `end/${'data' in event && 'grant_id' in event.data ? event.data.grant_id : ''}`),
    at: clock.next(),
    event,
  }));
  return [...drafts, ...revocations];
}

/**
 * Writes an event about a record's end to a project's stream. The end of a record is written only once, even if two instances
 * carry out the purge at the same time because one of them lost its connection while it was the leader.
 * @param id the event's id
 * @returns no position if the end is already written
 */
export function note(
  projects: Streams<ProjectState>,
  metadata: MetadataBase,
  now: () => number,
  project: string,
  id: string,
  event: Extract<StoredEvent['event'], { type: 'RecordErasureRequested' | 'RecordErased' }>,
): Promise<Written<void>> {
  return projects.handle<void>({
    stream: projectStream(project),
    metadata: { ...metadata, command_id: newUuid() },
    now,
    decide: ({ erasing }, clock) => {
      const isNoted = event.type === 'RecordErased' && !erasing.has(event.data.patient);
      return { drafts: isNoted ? [] : [{ id, at: clock.next(), event }], result: undefined };
    },
  });
}
