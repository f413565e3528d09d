/**
 * The parts of a project's state that decisions need: whether it is open, its access to production and the request for that
 * access, its keys, the purges under way, and the personal records, which are the only content of a person's own project.
 */
import type { EventOf } from '#src/events/streams.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import { notFound } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { Fold } from '../kernel/kernel.ts';

export interface ProjectState {
  status: 'none' | 'open' | 'deleted';
  /** True if, since production was last withdrawn, an operator has allowed it or a production key has been created. */
  production: boolean;
  /** When an operator last withdrew production. */
  withdrawnAt: Micros | undefined;
  /** Id of the production request that is waiting for an operator. */
  request: string | undefined;
  /** Key id → whether it still works. */
  readonly keys: Map<string, boolean>;
  /** Patients whose purge was requested but isn't complete. */
  readonly erasing: Set<string>;
  /** The patient of the personal record in each environment. */
  readonly personal: Map<Environment, string>;
  /** The hosts whose guests an operator has blocked; used only in the project that contains the guests. */
  readonly blocked: Set<string>;
}

/** The fold of `project-` streams. */
export const PROJECT: Fold<ProjectState, EventOf<'project'>> = {
  name: 'project',
  kinds: ['project'],
  initial: () => ({
    status: 'none',
    production: false,
    withdrawnAt: undefined,
    request: undefined,
    keys: new Map(),
    erasing: new Set(),
    personal: new Map(),
    blocked: new Set(),
  }),
  evolve,
  estimateSize: ({ keys, erasing, blocked }) => 200 + keys.size * 120 + (erasing.size + blocked.size) * 80,
};

/**
 * Checks that a project is open.
 * @throws Refusal not_found for a missing or closed project
 */
export function requireOpen({ status }: Readonly<ProjectState>, id: string): void {
  if (status !== 'open') throw notFound('project', id);
}

function evolve(state: ProjectState, event: EventOf<'project'>, _revision: number, at: Micros): void {
  switch (event.type) {
    case 'ProjectCreated':
      state.status = 'open';
      break;
    case 'ProjectDeleted':
      state.status = 'deleted';
      break;
    case 'ProductionAccessRequested':
      state.request = event.data.request_id;
      break;
    case 'ProductionAccessRefused':
      state.request = undefined;
      break;
    case 'ProductionAccessAllowed':
      state.production = true;
      state.request = undefined;
      break;
    case 'ProductionAccessWithdrawn':
      state.production = false;
      state.withdrawnAt = at;
      break;
    case 'ApiKeyCreated':
      if (event.data.environment === 'production') state.production = true;
      state.keys.set(event.data.key_id, true);
      break;
    case 'ApiKeyRevoked':
      state.keys.set(event.data.key_id, false);
      break;
    case 'RecordErasureRequested':
      state.erasing.add(event.data.patient);
      break;
    case 'RecordErased':
      state.erasing.delete(event.data.patient);
      if (state.personal.get(event.data.environment) === event.data.patient)
        state.personal.delete(event.data.environment);
      break;
    case 'PersonalRecordStarted':
      state.personal.set(event.data.environment, event.data.patient);
      break;
    case 'GuestHostBlocked':
      state.blocked.add(event.data.host);
      break;
    case 'GuestHostUnblocked':
      state.blocked.delete(event.data.host);
      break;
    case 'SandboxProvisioningRequested':
    case 'SandboxResetRequested':
    case 'SandboxProvisioned':
      break;
    default:
      event satisfies never;
  }
}
