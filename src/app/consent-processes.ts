/** What ends grants by itself: the end of an application or project, and time. */
import type { Consents } from '#commands/consent/consents.ts';
import { ENDING_TYPES, endGrants } from '#commands/consent/end-grants.ts';
import type { GrantsToEnd } from '#queries/consents/to-end.ts';
import { understand } from '../events/codec.ts';
import type { Position } from '../events/store.ts';
import type { ProcessDeps } from '../processes/definition.ts';
import { Process } from '../processes/process.ts';
import { unavailable } from '../shared/refusal.ts';
import { nowMicros } from '../shared/time.ts';
import { GrantExpiry, type GrantExpiryDeps } from './grant-expiry.ts';

/** Dependencies. */
export interface ConsentProcessesDeps extends ProcessDeps {
  readonly log: ProcessDeps['log'] & GrantExpiryDeps['log'];
  readonly consents: Pick<Consents, 'revoke' | 'expire'>;
  readonly toEnd: GrantsToEnd;
  /** Waits until the named read models show a position; false when it takes too long. */
  readonly passed: (position: Position, by: readonly string[]) => Promise<boolean>;
}

/** Both; each runs only once it is started. */
export interface ConsentProcesses {
  /** Ends the grants of deleted applications and projects. */
  readonly endings: Process;
  /** Ends grants whose time is over. */
  readonly expiry: GrantExpiry;
}

/** Makes them. */
export function openConsentProcesses({
  consents,
  toEnd,
  passed,
  ...processDeps
}: ConsentProcessesDeps): ConsentProcesses {
  const shown = async (position: Position, models: readonly string[]): Promise<void> => {
    if (!(await passed(position, models))) throw unavailable('the read models lag behind the log');
  };
  const endings = new Process(
    {
      name: 'grants',
      prefixes: ['record-', 'application-', 'project-'],
      types: ENDING_TYPES,
      act: (event) => endGrants({ ...toEnd, consents, shown, now: nowMicros }, understand(event)),
    },
    processDeps,
  );
  const expiry = new GrantExpiry({
    consents,
    expired: toEnd.expired,
    shown: (position) => passed(position, ['consents']),
    log: processDeps.log,
  });
  return { endings, expiry };
}
