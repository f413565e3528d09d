/**
 * Limits how many sandboxes wait to be filled or reset. They are processed one after the other, so each person and each
 * organization may have only a few waiting.
 */
import type { Position } from '#src/events/store.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { CriteriaLocks, RequestContext } from '../command.ts';

/** The maximum number of waiting sandboxes per person, and per organization, including the current request. */
const MOST_WAITING = 5;
/** The approximate time to fill one sandbox, in seconds. */
const RETRY_AFTER = 5;
/** A request that has been failing for this long, in microseconds, is parked and no longer blocks others. */
const COUNTED = 3_600_000_000;

/**
 * Runs `ask` if the limits allow another request. Requests by the same person or for the same organization run one after the
 * other on all instances, so that each is counted.
 * @param organization undefined while the organization is being created
 * @throws Refusal throttled (429) if too many are waiting; rethrows errors from `ask`
 */
export type SandboxQueue = <T>(
  by: RequestContext,
  organization: string | undefined,
  ask: () => Promise<T>,
  findPosition: (asked: T) => Position | undefined,
) => Promise<T>;

/** Creates the queue of sandboxes. */
export function openSandboxQueue({
  locks,
  waiting,
  waitFor,
}: {
  readonly locks: CriteriaLocks;
  /**
   * Returns the number of sandboxes with waiting requests that were made since the given time, by a person or in an
   * organization; if the organization is undefined, only the person's requests count.
   */
  readonly waiting: (person: string, organization: string | undefined, since: Micros) => Promise<number>;
  /** Waits until the read model `projects` reaches a position; returns false if that takes too long. */
  readonly waitFor: (position: Position) => Promise<boolean>;
}): SandboxQueue {
  return ({ credential, retry, now }, organization, ask, findPosition) => {
    const person = `${credential.issuer} ${credential.subject}`;
    const keys = [`sandboxes of ${person}`];
    if (organization !== undefined) keys.push(`sandboxes of ${organization}`);
    return locks.hold(keys, async () => {
      // A request that an earlier attempt started is completed without being counted again.
      const begun = retry !== undefined && retry.earlier.size > 0;
      if (!begun && (await waiting(person, organization, now() - COUNTED)) >= MOST_WAITING) throw tooMany();
      const asked = await ask();
      const position = findPosition(asked);
      // The next request must count this one too.
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
