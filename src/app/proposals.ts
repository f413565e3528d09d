/** Puts proposals together: their commands, and what ends those that nobody can accept any more. */
import type { Logger } from 'pino';
import { type CommandsDeps, writeDepsOf } from '#commands/open.ts';
import { openProposals as openCommands } from '#commands/proposal/open.ts';
import type { Proposals } from '#commands/proposal/proposals.ts';
import type { ConsentQueries } from '#queries/consents/consents.ts';
import type { Position } from '../events/store.ts';
import { accessOf } from '../oauth/access.ts';
import { ProposalEndings } from './proposal-endings.ts';

/** Dependencies. */
export interface ProposalParts {
  readonly writing: CommandsDeps;
  readonly queries: Pick<ConsentQueries, 'isApplicationOpen' | 'lapsedProposals'>;
  /** Waits until the named read models show a position; false when it takes too long. */
  readonly passed: (position: Position, by: readonly string[]) => Promise<boolean>;
  readonly log: Pick<Logger, 'warn'>;
}

/** Read models that show proposals, and what they became. */
const MODELS = ['consents', 'resources', 'history'];

/** Opens both; the second runs once it is started. */
export function openProposals({ writing, queries, passed, log }: ProposalParts): {
  readonly proposals: Proposals;
  readonly endings: ProposalEndings;
} {
  const proposals = openCommands({
    ...writeDepsOf(writing),
    accessOf,
    isOpen: queries.isApplicationOpen,
    shown: (position) => passed(position, MODELS),
  });
  const endings = new ProposalEndings({
    lapse: proposals.lapse,
    lapsed: queries.lapsedProposals,
    shown: (position) => passed(position, ['consents']),
    log,
  });
  return { proposals, endings };
}
