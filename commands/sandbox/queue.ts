/**
 * Limits how many sandboxes wait to be filled or reset. All are processed one after the other, so one person,
 * and one organization, can have only a few waiting.
 */
import type { Position } from '#src/events/store.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { CriteriaLocks, RequestContext } from '../command.ts';

/**
 * The most sandboxes of one person, and of one organization, that may wait at the same time, including the
 * current request.
 */
const MOST_WAITING = 5;
/** About how long filling one takes, in seconds. */
const RETRY_AFTER = 5;
/** A request that fails for this long, in microseconds, is parked and doesn't block others. */
const COUNTED = 3_600_000_000;

/**
 * Runs `ask` if the limits allow another request. Requests of one person and one organization run one after the other
 * on all instances, so that each is counted.
 * @param organization undefined: it is only being created.
 * @throws Refusal throttled (429) if too many wait; rethrows the errors of `ask`.
 */
export type SandboxQueue = <T>(
  by: RequestContext,
  organization: string | undefined,
  ask: () => Promise<T>,
  findPosition: (asked: T) => Position | undefined,
) => Promise<T>;

/** Opens the queue of sandboxes. */
export function openSandboxQueue({
  locks,
  waiting,
  waitFor,
}: {
  readonly locks: CriteriaLocks;
  /**
   * Returns the sandboxes with waiting requests made since a time by a person, or in an organization;
   * undefined: no organization.
   */
  readonly waiting: (person: string, organization: string | undefined, since: Micros) => Promise<number>;
  /** Waits until the read model `projects` shows a position; false when it takes too long. */
  readonly waitFor: (position: Position) => Promise<boolean>;
}): SandboxQueue {
  return ({ credential, retry, now }, organization, ask, findPosition) => {
    const person = `${credential.issuer} ${credential.subject}`;
    const keys = [`sandboxes of ${person}`];
    if (organization !== undefined) keys.push(`sandboxes of ${organization}`);
    return locks.hold(keys, async () => {
      // A request that an earlier attempt began is completed without counting it again.
      const begun = retry !== undefined && retry.earlier.size > 0;
      if (!begun && (await waiting(person, organization, now() - COUNTED)) >= MOST_WAITING) throw tooMany();
      const asked = await ask();
      const position = findPosition(asked);
      // The next must be counted with this one.
      if (position !== undefined) await waitFor(position);
      return asked;
    });
  };
}

function tooMany(): Refusal {
  return new Refusal(
    'throttled',
    {
      code: 'throttled',
      diagnostics: `${MOST_WAITING} of your sandboxes or this organization's sandboxes are already waiting to be filled or reset; retry when one of them is done`,
    },
    { 'Retry-After': String(RETRY_AFTER) },
  );
}
