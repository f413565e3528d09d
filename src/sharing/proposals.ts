/** Assembles proposals: their commands, and the process that ends proposals that can no longer be accepted. */

import type { Logger } from 'pino';
import { type CommandsDeps, makeWriteSide } from '#commands/open.ts';
import { openProposals as openCommands } from '#commands/proposal/open.ts';
import type { Proposals } from '#commands/proposal/proposals.ts';
import type { ConsentQueries } from '#queries/consents/consents.ts';
import type { LapsedProposal } from '#queries/consents/proposals.ts';
import type { Freshness } from '../freshness/freshness.ts';
import { parseAccess } from '../oauth/tokens/access.ts';
import { Endings } from './endings.ts';

/** Read models that show proposals and the versions that were made from them. */
const MODELS = ['consents', 'resources', 'history'];

/** Interval between two checks for lapsed proposals, in ms; each check goes through all pending proposals. */
const LAPSED_MS = 10_000;

/** Creates both; the process begins to run only when it is started. */
export function openProposals({
  writing,
  queries,
  freshness,
  log,
}: {
  readonly writing: CommandsDeps;
  readonly queries: Pick<ConsentQueries, 'isGrantOpen' | 'lapsedProposals'>;
  readonly freshness: Pick<Freshness, 'waitFor'>;
  readonly log: Pick<Logger, 'warn'>;
}): {
  readonly proposals: Proposals;
  readonly endings: Endings<LapsedProposal>;
} {
  const proposals = openCommands({
    ...makeWriteSide(writing),
    parseAccess,
    isOpen: queries.isGrantOpen,
    awaitModels: (position) => freshness.waitFor(position, MODELS),
  });
  const endings = new Endings<LapsedProposal>({
    what: 'proposal',
    everyMs: LAPSED_MS,
    find: queries.lapsedProposals,
    idOf: ({ proposalId }) => proposalId,
    end: proposals.lapse,
    awaitModels: (position) => freshness.waitFor(position, ['consents']),
    log,
  });
  return { proposals, endings };
}
