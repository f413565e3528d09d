/** Decisions about a project's sandbox. Pure. */
import type { PlainEvent } from '#src/events/catalog.ts';
import { notFound } from '#src/shared/refusal.ts';
import type { SandboxState } from './state.ts';

/** The data in `SandboxProvisioningRequested` and `SandboxResetRequested`. */
export type Asked = Extract<PlainEvent, { type: 'SandboxResetRequested' }>['data'];

/**
 * Requests that a sandbox be emptied and refilled; writes no event while a reset is running.
 * @throws Refusal not_found for a project that isn't open
 */
export function reset(project: string, data: Asked) {
  return (state: Readonly<SandboxState>): PlainEvent[] => {
    if (state.project !== 'open') throw notFound('project', project);
    return isResetting(state) ? [] : [{ type: 'SandboxResetRequested', data }];
  };
}

/**
 * Records that the sandbox has been filled as requested; writes no event if that was already recorded or there is a newer
 * request.
 */
export function provisioned({ reset_id, patients }: Asked, resources: number) {
  return ({ current }: Readonly<SandboxState>): PlainEvent[] =>
    current?.resetId !== reset_id || current.done
      ? []
      : [{ type: 'SandboxProvisioned', data: { reset_id, patients, resources } }];
}

/** Returns true if a reset was requested and hasn't finished. */
export function isResetting({ current }: Readonly<SandboxState>): boolean {
  return current?.isReset === true && !current.done;
}
