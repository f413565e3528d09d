/** The state of a project that decisions need: whether it is open, its access to production, its keys. */
import type { EventOf } from '#src/events/kinds.ts';
import type { Fold } from '../kernel/stream.ts';

/** The state of a project. */
export interface ProjectState {
  status: 'none' | 'open' | 'deleted';
  /** Whether an operator has allowed production keys and applications. */
  production: boolean;
  /** Key id → whether it still works. */
  readonly keys: Map<string, boolean>;
}

/** The fold of `project-` streams; it ignores erasures of records. */
export const PROJECT: Fold<ProjectState, EventOf<'project'>> = {
  name: 'project',
  kinds: ['project'],
  initial: () => ({ status: 'none', production: false, keys: new Map() }),
  evolve,
  sizeOf: ({ keys }) => 100 + keys.size * 120,
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
    case 'RecordErased':
    case 'PersonalRecordStarted':
    case 'SandboxProvisioningRequested':
    case 'SandboxResetRequested':
    case 'SandboxProvisioned':
      break;
    default:
      event satisfies never;
  }
}
