/** What HTTP needs of proposals on the write side; lists are in `ConsentQueries`. */
import type { Proposals } from '#commands/proposal/proposals.ts';

/** What applications and people do with proposals. `shownProposal` prints one. */
export type ProposalServices = Omit<Proposals, 'lapse'>;
