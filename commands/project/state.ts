/**
 * The state of a project that decisions need: whether it is open, its access to production, its keys, purges under way,
 * and the personal records that are its only content where a person has one.
 */
import type { EventOf } from '#src/events/kinds.ts';
import type { Environment } from '#src/shared/tenant.ts';
import type { Fold } from '../kernel/stream.ts';

/** The state of a project. */
export interface ProjectState {
  status: 'none' | 'open' | 'deleted';
  /** Whether an operator has allowed production keys and applications. */
  production: boolean;
  /** Key id → whether it still works. */
  readonly keys: Map<string, boolean>;
  /** Patients whose purge was requested and is not complete. */
  readonly erasing: Set<string>;
  /** The patient of the personal record in each environment. */
  readonly personal: Map<Environment, string>;
}

/** The fold of `project-` streams. */
export const PROJECT: Fold<ProjectState, EventOf<'project'>> = {
  name: 'project',
  kinds: ['project'],
  initial: () => ({
    status: 'none',
    production: false,
    keys: new Map(),
    erasing: new Set(),
    personal: new Map(),
  }),
  evolve,
  sizeOf: ({ keys, erasing }) => 200 + keys.size * 120 + erasing.size * 80,
};

function evolve(state: ProjectState, event: EventOf<'project'>): void {
  switch (event.type) {
    case 'ProjectCreated':
      state.status = 'open';
      break;
    case 'ProjectDeleted':
      state.status = 'deleted';
      break;
    case 'ProductionAccessAllowed':
      state.production = true;
      break;
    case 'ProductionAccessWithdrawn':
      state.production = false;
      break;
    case 'ApiKeyCreated':
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
    case 'SandboxProvisioningRequested':
    case 'SandboxResetRequested':
    case 'SandboxProvisioned':
      break;
    default:
      event satisfies never;
  }
}
