/**
 * Resets a sandbox: purges every record, deletes every directory entry, and creates the synthetic patients with new ids. A
 * crash can only delay this process; every step can be repeated.
 */
import type { StoredEvent } from '#src/events/catalog.ts';
import { understand } from '#src/events/codec.ts';
import type { Position } from '#src/events/store.ts';
import { directoryStream, projectStream } from '#src/events/streams.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { isResourceType } from '#src/fhir/types.ts';
import { DIRECTORY_SERIES, sandboxIds, syntheticPatients } from '#src/sandbox/ids.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import type { IdSource } from '#src/shared/ids.ts';
import { unavailable } from '#src/shared/refusal.ts';
import { type Micros, toMicros } from '#src/shared/time/time.ts';
import type { MetadataBase } from '../command.ts';
import { removeLive } from '../resource/resume.ts';
import type { Asked } from './decide.ts';
import { type ProvisionDeps, provision, systemCredential } from './provision.ts';

/** Dependencies for a reset. */
export interface ResetDeps extends ProvisionDeps {
  /** Returns the patients whose records a tenant created before a given time, including deleted patients. */
  readonly records: (tenant: Tenant, before: Micros) => Promise<readonly string[]>;
  /** Waits until the erasure requested at a position is complete; returns false if that takes too long. */
  readonly erased: (position: Position) => Promise<boolean>;
}

/** The number of purges to request at once. */
const AT_ONCE = 20;
/** The maximum number of deletions per append. */
const CHUNK = 50;

/** Carries out one `SandboxProvisioningRequested` or `SandboxResetRequested`, continuing where an earlier run stopped. */
export async function fillSandbox(deps: ResetDeps, requested: StoredEvent): Promise<void> {
  const { event, stream, metadata } = requested;
  if (event.type !== 'SandboxProvisioningRequested' && event.type !== 'SandboxResetRequested')
    throw new TypeError(`${event.type} is not a request to fill or reset a sandbox`);
  const project = stream.slice(projectStream('').length);
  const past = await readPast(deps, requested);
  if (past.over) return;
  if (event.type === 'SandboxResetRequested')
    await empty(deps, requested, event.data.reset_id, event.data.patients, past);
  await provision(deps, project, metadata.request_id, event.data);
}

/** The changes that have been made since the reset was requested, by an earlier run and by others. */
interface Past {
  /** True if the request has been carried out, a reset was requested after it, or the project is closed. */
  readonly over: boolean;
  /** Patients whose purge was requested. */
  readonly asked: ReadonlySet<string>;
  /** The position of the last purge request. */
  readonly position: Position | undefined;
}

async function readPast({ sandboxes }: ResetDeps, { stream, revision, event }: StoredEvent): Promise<Past> {
  const asked = new Set<string>();
  let over = false;
  let position: Position | undefined;
  for await (const recorded of sandboxes.kernel.store.read(stream, { from: revision + 1 })) {
    const { event: later } = understand(recorded);
    if (later.type === 'ProjectDeleted' || later.type === 'SandboxResetRequested') over = true;
    else if (later.type === 'SandboxProvisioned')
      over ||= 'data' in event && 'reset_id' in event.data && later.data.reset_id === event.data.reset_id;
    else if (later.type === 'RecordErasureRequested' && later.data.environment === 'sandbox') {
      asked.add(later.data.patient);
      position = recorded.position;
    }
  }
  return { over, asked, position };
}

/** Returns the previous request, if the sandbox wasn't filled yet when this one was made. */
async function readUnfinished(
  { sandboxes }: ResetDeps,
  { stream, revision }: StoredEvent,
): Promise<Asked | undefined> {
  const before = sandboxes.kernel.store.read(stream, { from: revision - 1, direction: 'backwards' });
  for await (const recorded of before) {
    if (recorded.type === 'SandboxProvisioned') return undefined;
    if (recorded.type !== 'SandboxProvisioningRequested' && recorded.type !== 'SandboxResetRequested')
      continue;
    const { event } = understand(recorded);
    if ('data' in event && 'seed' in event.data) return event.data;
  }
  return undefined;
}

/** Reads the records that were created before the request, and those of a filling that was running at that time. */
async function readRecords(deps: ResetDeps, tenant: Tenant, requested: StoredEvent): Promise<string[]> {
  const before = await deps.records(tenant, toMicros(requested.metadata.recorded_at));
  const unfinished = await readUnfinished(deps, requested);
  if (unfinished === undefined) return [...before];
  const made = new Set(syntheticPatients(unfinished.reset_id, unfinished.patients));
  const later = await deps.records(tenant, Number.MAX_SAFE_INTEGER);
  return [...new Set([...before, ...later.filter((patient) => made.has(patient))])];
}

/** Purges the records and deletes the directory. */
async function empty(
  deps: ResetDeps,
  requested: StoredEvent,
  resetId: string,
  patients: number,
  past: Past,
): Promise<void> {
  const { stream, metadata } = requested;
  const tenant: Tenant = { project: stream.slice(projectStream('').length), environment: 'sandbox' };
  const ids = sandboxIds(resetId);
  const base: MetadataBase = {
    request_id: metadata.request_id,
    command_id: ids.at(0, 'emptying'),
    credential: systemCredential(tenant),
  };
  await deps.waitFor(await deps.sandboxes.kernel.store.head());
  if (past.position !== undefined) await awaitErased(deps, past.position);
  const own = new Set(syntheticPatients(resetId, patients));
  const there = await readRecords(deps, tenant, requested);
  const left = there.filter((patient) => !own.has(patient) && !past.asked.has(patient));
  for (let from = 0; from < left.length; from += AT_ONCE) {
    const { position: last } = await deps.sandboxes.handle<void>({
      stream,
      metadata: { ...base, command_id: ids.at(0, `erasures/${left[from]}`) },
      now: deps.now,
      touches: [],
      decide: (_, clock) => ({
        drafts: left.slice(from, from + AT_ONCE).map((patient) => ({
          id: ids.at(0, `erasure/${patient}`),
          at: clock.next(),
          event: { type: 'RecordErasureRequested', data: { patient, environment: 'sandbox' } },
        })),
        result: undefined,
      }),
    });
    if (last !== undefined) await awaitErased(deps, last);
  }
  await emptyDirectory(deps, tenant, ids, base);
}

async function awaitErased({ erased }: ResetDeps, position: Position): Promise<void> {
  if (!(await erased(position))) throw unavailable("the sandbox's records are still being purged");
}

/** Deletes every live entry, unless the new entries already exist, which means that the old ones are already deleted. */
async function emptyDirectory(
  deps: ResetDeps,
  tenant: Tenant,
  ids: IdSource,
  metadata: MetadataBase,
): Promise<void> {
  const stream = directoryStream(tenant);
  const live = new Map<string, ResourceType>();
  for await (const recorded of deps.resources.kernel.store.read(stream)) {
    const { event } = understand(recorded);
    if (!('resourceId' in event)) continue;
    const { resourceId: id, resourceType: type } = event;
    if (event.type === 'ResourceDeleted') live.delete(id);
    else if (isResourceType(type)) live.set(id, type);
  }
  if (live.has(ids.at(0, DIRECTORY_SERIES))) return;
  const all = [...live];
  for (let from = 0; from < all.length; from += CHUNK) {
    const some = all.slice(from, from + CHUNK);
    const deletions = some.map(([id, type]) => {
      return { kind: 'remove' as const, eventId: ids.at(0, `deletion/${id}`), type, id };
    });
    const { position } = await deps.resources.handle<void>({
      stream,
      metadata: { ...metadata, command_id: ids.at(from, 'deletions') },
      now: deps.now,
      touches: some.map(([id]) => id),
      decide: (state, clock) => ({ ...removeLive(state, clock, deletions), result: undefined }),
    });
    if (position !== undefined) await deps.waitFor(position);
  }
}
