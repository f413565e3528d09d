/** The interfaces of the write side of proposals that HTTP needs; lists are in `ConsentQueries`. */
import type { Proposals } from '#commands/proposal/proposals.ts';

/** The operations of applications and people on proposals. `shownProposal` prints one. */
export type ProposalServices = Omit<Proposals, 'lapse'>;
