/** What may happen to a project's sandbox. Pure. */
import type { PlainEvent } from '#src/events/catalog.ts';
import { notFound } from '#src/shared/refusal.ts';
import type { SandboxState } from './state.ts';

/** What is asked for: the data of `SandboxProvisioningRequested` and `SandboxResetRequested`. */
export type Asked = Extract<PlainEvent, { type: 'SandboxResetRequested' }>['data'];

/** Asks for it to be emptied and filled again; nothing happens while it is being reset. @throws Refusal not_found for a project that is not open */
export function reset(project: string, data: Asked) {
  return (state: Readonly<SandboxState>): PlainEvent[] => {
    if (state.project !== 'open') throw notFound('project', project);
    return isResetting(state) ? [] : [{ type: 'SandboxResetRequested', data }];
  };
}

/** Notes that it holds what was asked for; nothing happens when that was noted, or something else was asked for since. */
export function provisioned({ reset_id, patients }: Asked, resources: number) {
  return ({ current }: Readonly<SandboxState>): PlainEvent[] =>
    current?.resetId !== reset_id || current.done
      ? []
      : [{ type: 'SandboxProvisioned', data: { reset_id, patients, resources } }];
}

/** Whether a reset is asked for and not over. */
export function isResetting({ current }: Readonly<SandboxState>): boolean {
  return current?.isReset === true && !current.done;
}
