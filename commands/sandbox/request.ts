/** Requests that a sandbox be filled, with an event in the project's stream; the process `sandbox` reacts to it. */
import type { PlainEvent } from '#src/events/catalog.ts';
import type { Position } from '#src/events/store.ts';
import { projectStream } from '#src/events/streams.ts';
import { SEED } from '#src/sandbox/seed.ts';
import type { IdSource } from '#src/shared/ids.ts';
import { type Micros, toInstant } from '#src/shared/time/time.ts';
import type { RequestContext } from '../command.ts';
import type { Streams } from '../kernel/streams.ts';
import { type Asked, reset } from './decide.ts';
import type { SandboxState } from './state.ts';

/** Where the request's id and day come from, and the number of patients. */
export interface Wanted {
  readonly ids: Pick<IdSource, 'at'>;
  readonly now: () => Micros;
  /** 0 to 30. */
  readonly patients: number;
}

/**
 * Returns the event that requests filling the sandbox, for the append that creates a project; empty if no patients are
 * requested.
 */
export function provisioningRequested(wanted: Wanted): PlainEvent[] {
  return wanted.patients === 0 ? [] : [{ type: 'SandboxProvisioningRequested', data: asked(wanted) }];
}

/**
 * Requests that a sandbox be emptied and refilled. Does nothing if the sandbox is already being reset.
 * @returns the position of the event; undefined if no event was written
 * @throws Refusal not_found for a project that isn't open
 */
export async function requestReset(
  sandboxes: Streams<SandboxState>,
  by: RequestContext,
  project: string,
  patients: number,
): Promise<Position | undefined> {
  const data = asked({ ids: by.ids, now: by.now, patients });
  const wrote = await sandboxes.transact(projectStream(project), by, reset(project, data));
  return wrote?.position;
}

function asked({ ids, now, patients }: Wanted): Asked {
  return { reset_id: ids.at(0, 'sandbox'), seed: SEED, patients, today: toInstant(now()).slice(0, 10) };
}
