/** A project's sandbox as decisions know it. */
import type { EventOf } from '#src/events/kinds.ts';
import type { Fold } from '../kernel/stream.ts';

/** One filling of a sandbox with synthetic patients. */
export interface Provisioning {
  /** Its ids follow from this one. */
  readonly resetId: string;
  /** How many patients it makes. */
  readonly patients: number;
  /** Whether it began by erasing what was there. */
  readonly isReset: boolean;
  done: boolean;
}

/** Its state. */
export interface SandboxState {
  project: 'none' | 'open' | 'deleted';
  /** The newest; undefined for a sandbox that was never filled. */
  current: Provisioning | undefined;
  resets: number;
}

/** The fold of `project-` streams. */
export const SANDBOX: Fold<SandboxState, EventOf<'project'>> = {
  name: 'sandbox',
  kinds: ['project'],
  initial: () => ({ project: 'none', current: undefined, resets: 0 }),
  evolve,
  sizeOf: () => 300,
};

function evolve(state: SandboxState, event: EventOf<'project'>): void {
  switch (event.type) {
    case 'ProjectCreated':
      state.project = 'open';
      break;
    case 'ProjectDeleted':
      state.project = 'deleted';
      break;
    case 'SandboxProvisioningRequested':
    case 'SandboxResetRequested': {
      const isReset = event.type === 'SandboxResetRequested';
      const { reset_id: resetId, patients } = event.data;
      state.current = { resetId, patients, isReset, done: false };
      if (isReset) state.resets += 1;
      break;
    }
    case 'SandboxProvisioned':
      if (state.current?.resetId === event.data.reset_id) state.current.done = true;
      break;
    case 'ProductionAccessAllowed':
    case 'ProductionAccessWithdrawn':
    case 'ApiKeyCreated':
    case 'ApiKeyRevoked':
    case 'RecordErasureRequested':
    case 'RecordErased':
      break;
    default:
      event satisfies never;
  }
}
