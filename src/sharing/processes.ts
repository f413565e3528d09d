/** Ends grants automatically: when an application or project is deleted, and when a grant expires. */

import type { Logger } from 'pino';
import type { Consents } from '#commands/consent/consents.ts';
import { ENDING_TYPES, endGrants } from '#commands/consent/end-grants.ts';
import type { GrantsToEnd, OpenGrant } from '#queries/consents/to-end.ts';
import { understand } from '../events/codec.ts';
import type { Position } from '../events/store.ts';
import type { Freshness } from '../freshness/freshness.ts';
import type { ProcessDeps } from '../processes/definition.ts';
import { Process } from '../processes/process.ts';
import { unavailable } from '../shared/refusal.ts';
import { nowMicros } from '../shared/time/time.ts';
import { Endings } from './endings.ts';

/** Both processes; each begins to run only when it is started. */
export interface ConsentProcesses {
  /** Ends the grants of deleted applications and projects. */
  readonly endings: Process;
  /** Ends grants that have expired. */
  readonly expiry: Endings<OpenGrant>;
}

/** Interval between two checks for expired grants, in ms. */
const EXPIRY_MS = 2_000;

/** Creates the processes. */
export function openConsentProcesses({
  consents,
  toEnd,
  freshness,
  ...processDeps
}: ProcessDeps & {
  readonly log: ProcessDeps['log'] & Pick<Logger, 'warn'>;
  readonly consents: Pick<Consents, 'revoke' | 'expire'>;
  readonly toEnd: GrantsToEnd;
  readonly freshness: Pick<Freshness, 'waitFor'>;
}): ConsentProcesses {
  const awaitModels = async (position: Position, models: readonly string[]): Promise<void> => {
    if (!(await freshness.waitFor(position, models))) throw unavailable('the read models lag behind the log');
  };
  const endings = new Process(
    {
      name: 'grants',
      prefixes: ['record-', 'application-', 'project-'],
      types: ENDING_TYPES,
      act: (event) => endGrants({ ...toEnd, consents, awaitModels, now: nowMicros }, understand(event)),
    },
    processDeps,
  );
  const expiry = new Endings<OpenGrant>({
    what: 'grant',
    everyMs: EXPIRY_MS,
    find: toEnd.expired,
    idOf: ({ grantId }) => grantId,
    end: consents.expire,
    awaitModels: (position) => freshness.waitFor(position, ['consents']),
    log: processDeps.log,
  });
  return { endings, expiry };
}
