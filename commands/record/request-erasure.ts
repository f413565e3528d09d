/** Requests a purge, for the project that created the patient or for the person whose personal record it is. */

import type { Position } from '#src/events/store.ts';
import { StreamDeleted } from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';
import { accessIn, type Tenant } from '#src/shared/access/caller.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import { notFound, Refusal, unavailable } from '#src/shared/refusal.ts';
import {
  type CommandContext,
  type MetadataBase,
  metadataBase,
  type RequestContext,
  type Written,
} from '../command.ts';
import { personalProject } from '../consent/personal.ts';
import type { Streams } from '../kernel/streams.ts';
import type { ProjectState } from '../project/state.ts';
import type { WriteDeps } from '../resource/deps.ts';
import type { Resources } from '../resource/state.ts';
import { type ErasureDeps, note } from './erasure.ts';

/** Erasures that run outside the event store. */
export interface Erasure {
  /** Waits until the erasure requested at a position is complete; returns false after 60 s. */
  finished(position: Position): Promise<boolean>;
}

/** Dependencies for requesting an erasure. */
export interface ErasureRequests {
  readonly erasure: Erasure;
  readonly projects: Streams<ProjectState>;
}

/**
 * Requests a purge and waits until it is complete.
 * @throws Refusal not_found for a Patient that the caller can't see; unavailable if it takes too long (the purge continues)
 */
export async function requestErasure(
  deps: WriteDeps & ErasureRequests,
  ctx: CommandContext,
  patientId: string,
): Promise<Written<void>> {
  const located = (await deps.lookup.locate(ctx.caller, [patientId])).get(patientId);
  if (located?.type !== 'Patient') throw notFound('Patient', patientId);
  const { project, environment } = ctx.caller.calls.project;
  const { owner } = await deps.resources.read(located.stream);
  const isOwn = owner?.project === project && owner.environment === environment;
  // A purge removes resources of every type.
  if (!isOwn || accessIn(ctx.caller.sees) !== undefined) {
    throw new Refusal('forbidden', {
      code: 'forbidden',
      diagnostics: 'only the project that created the patient may purge it',
    });
  }
  // Data that outlives the record contains only ids: no names of people, no source systems, no origin ids.
  const {
    source_system: _source,
    origin_id: _origin,
    on_behalf_of: _behalf,
    ...metadata
  } = metadataBase(ctx);
  return requested(deps, metadata, ctx, { project, environment }, patientId);
}

/**
 * Requests a purge of a person's own personal record, and waits until it is complete. The project's stream outlives the
 * record, so its event doesn't name the person: the project's id is derived from the person's identity.
 * @throws Refusal forbidden for a record that isn't the person's personal record; not_found for a record that no longer
 *   exists; unavailable if it takes too long (the purge continues)
 */
export async function requestPersonalErasure(
  deps: ErasureRequests & Pick<ErasureDeps, 'resources'>,
  by: RequestContext,
  person: PersonId,
  patientId: string,
): Promise<Written<void>> {
  const owner = await readOwner(deps.resources, patientId);
  const project = personalProject(person);
  if (owner.project !== project) {
    throw new Refusal('forbidden', {
      code: 'forbidden',
      diagnostics:
        'only a personal record can be purged by its patient: a project keeps this one; ask that project, or end your link with DELETE /me/patients/{patient_id}/link',
    });
  }
  const metadata: MetadataBase = {
    request_id: by.requestId,
    command_id: by.ids.seed,
    credential: { kind: 'system' },
    author: { type: 'patient' },
  };
  return requested(deps, metadata, by, { project, environment: owner.environment }, patientId);
}

/** @throws Refusal not_found for a record that no longer exists */
async function readOwner(resources: Streams<Resources>, patientId: string): Promise<Tenant> {
  try {
    const { owner } = await resources.read(recordStream(patientId));
    if (owner !== undefined) return owner;
  } catch (error) {
    if (!(error instanceof StreamDeleted)) throw error;
  }
  throw notFound('Patient', patientId);
}

/** Writes the request, and waits until it is carried out. */
async function requested(
  { projects, erasure }: ErasureRequests,
  metadata: MetadataBase,
  { ids, now }: Pick<RequestContext, 'ids' | 'now'>,
  { project, environment }: Tenant,
  patient: string,
): Promise<Written<void>> {
  const { position } = await note(projects, metadata, now, project, ids.at(0, 'event'), {
    type: 'RecordErasureRequested',
    data: { patient, environment },
  });
  if (position !== undefined && !(await erasure.finished(position))) {
    throw unavailable('the purge has started but is not complete yet; repeat the request later', 5);
  }
  return { result: undefined, position };
}
