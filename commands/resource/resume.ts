/** Decisions for work that resumes where it stopped: parts that are already done are left out. Pure. */
import type { WriteResult } from '../command.ts';
import type { Clock, Decision } from '../kernel/decision.ts';
import { decideWrites, type Write } from './decide.ts';
import { findEntry, type Resources } from './state.ts';

/**
 * Decides on the creations that are still missing.
 * @throws Refusal 404 or 409 in the same cases as `decideWrites`
 */
export function createMissing(
  state: Resources,
  clock: Clock,
  writes: readonly Extract<Write, { kind: 'create' }>[],
): Decision<WriteResult[]> {
  const missing = writes.filter(({ id }) => findEntry(state, id) === undefined);
  return missing.length === 0 ? NOTHING : decideWrites(state, clock, missing);
}

/**
 * Decides on the deletion of all resources that aren't deleted yet.
 * @throws Refusal 409 in the same cases as `decideWrites`
 */
export function removeLive(
  state: Resources,
  clock: Clock,
  writes: readonly Extract<Write, { kind: 'remove' }>[],
): Decision<WriteResult[]> {
  const live = writes.filter(({ id }) => findEntry(state, id)?.deleted === false);
  return live.length === 0 ? NOTHING : decideWrites(state, clock, live);
}

const NOTHING: Decision<WriteResult[]> = { drafts: [], result: [] };
