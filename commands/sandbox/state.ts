/** The parts of a project's sandbox that decisions need. */
import type { EventOf } from '#src/events/streams.ts';
import type { Fold } from '../kernel/kernel.ts';

/** One request to fill a sandbox with synthetic patients. */
export interface Provisioning {
  /** The seed for all ids that this request generates. */
  readonly resetId: string;
  /** The number of patients that this request generates. */
  readonly patients: number;
  /** True if the sandbox was emptied first. */
  readonly isReset: boolean;
  done: boolean;
}

/** The parts of a sandbox's state that decisions need. */
export interface SandboxState {
  project: 'none' | 'open' | 'deleted';
  /** The newest request; undefined for a sandbox that was never filled. */
  current: Provisioning | undefined;
  resets: number;
}

/** The fold of `project-` streams. */
export const SANDBOX: Fold<SandboxState, EventOf<'project'>> = {
  name: 'sandbox',
  kinds: ['project'],
  initial: () => ({ project: 'none', current: undefined, resets: 0 }),
  evolve,
  estimateSize: () => 300,
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
    case 'ProductionAccessRequested':
    case 'ProductionAccessRefused':
    case 'ProductionAccessAllowed':
    case 'ProductionAccessWithdrawn':
    case 'ApiKeyCreated':
    case 'ApiKeyRevoked':
    case 'RecordErasureRequested':
    case 'RecordErased':
    case 'PersonalRecordStarted':
    case 'GuestHostBlocked':
    case 'GuestHostUnblocked':
      break;
    default:
      event satisfies never;
  }
}
