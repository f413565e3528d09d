/**
 * Who may have a sandbox filled or reset now. All are done one after the other, for everybody: so one person, and one
 * organization, has only a few of them waiting.
 */
import type { Position } from '#src/events/store.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time.ts';
import type { CriteriaLocks, RequestContext } from '../command.ts';

/** Sandboxes of one person, and of one organization, that may wait at once, the one at hand included. */
const MOST_WAITING = 5;
/** About how long filling one takes, in seconds. */
const RETRY_AFTER = 5;
/** What fails for so long, in microseconds, is set aside and holds up nobody. */
const COUNTED = 3_600_000_000;

/** What it works with. */
export interface QueueDeps {
  readonly locks: CriteriaLocks;
  /** Sandboxes that wait for what was asked since a time by a person, or in an organization; undefined: none. */
  readonly waiting: (person: string, organization: string | undefined, since: Micros) => Promise<number>;
  /** Waits until the read model `projects` shows a position; false when it takes too long. */
  readonly visible: (position: Position) => Promise<boolean>;
}

/**
 * Runs what asks for a filling, if there is room. One after the other for a person and an organization, on all
 * instances together, so that each is counted.
 * @param organization undefined: one that is only founded.
 * @throws Refusal throttled (429) when too many wait; whatever `ask` throws.
 */
export type SandboxQueue = <T>(
  by: RequestContext,
  organization: string | undefined,
  ask: () => Promise<T>,
  positionOf: (asked: T) => Position | undefined,
) => Promise<T>;

/** Opens it. */
export function openSandboxQueue({ locks, waiting, visible }: QueueDeps): SandboxQueue {
  return ({ credential, retry, now }, organization, ask, positionOf) => {
    const person = `${credential.issuer} ${credential.subject}`;
    const keys = [`sandboxes of ${person}`];
    if (organization !== undefined) keys.push(`sandboxes of ${organization}`);
    return locks.hold(keys, async () => {
      // What an earlier attempt of the same request has begun is finished.
      const begun = retry !== undefined && retry.earlier.size > 0;
      if (!begun && (await waiting(person, organization, now() - COUNTED)) >= MOST_WAITING) throw tooMany();
      const asked = await ask();
      const position = positionOf(asked);
      // The next must be counted with this one.
      if (position !== undefined) await visible(position);
      return asked;
    });
  };
}

function tooMany(): Refusal {
  return new Refusal(
    'throttled',
    {
      code: 'throttled',
      diagnostics: `${MOST_WAITING} sandboxes of yours or of this organization are already waiting to be filled or reset; retry when one is done`,
    },
    { 'Retry-After': String(RETRY_AFTER) },
  );
}
