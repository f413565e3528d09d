/**
 * Sandboxes that are being filled or reset: lists would show partial data, so they answer 503 until the sandbox is
 * complete (docs/sandbox.md).
 */
import type { Sees } from '../access/caller.ts';
import { unavailable } from '../refusal.ts';

/** A filling that hasn't ended after an hour has failed: then the existing data is shown. */
const LONGEST = '3600000000';

/**
 * Returns the SQL condition that the sandbox of a project isn't complete.
 * @param p the alias of `projects.project`
 */
export function isFilling(p: string): string {
  return `(${p}.filling is not null and ${p}.filling_at > (extract(epoch from now()) * 1000000)::int8 - ${LONGEST})`;
}

/**
 * Checks that the caller's data is complete.
 * @throws Refusal unavailable (503, Retry-After) while it is a sandbox that is being filled
 */
export function requireFilled({ isFilling: filling }: Pick<Sees, 'isFilling'>): void {
  if (filling === true)
    throw unavailable('the sandbox is being filled with its synthetic patients; retry in a second');
}
