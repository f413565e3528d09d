/** The read side of consent: grants on records, how these grants ended, and the people to whom records belong. */
import type { Pool } from 'pg';
import { wrapCalls } from '#src/shared/wrap-calls.ts';
import { refuseCostly } from '../database/gather.ts';
import { type AccessRequestQueries, openAccessRequests } from './access-requests.ts';
import { type GrantQueries, openGrants } from './grants.ts';
import { type InvitationQueries, openInvitations } from './invitations.ts';
import { openRecordLinks, type RecordLinks } from './links.ts';
import { type OwnerOf, openOwners } from './owner-of.ts';
import { openProposals, type ProposalQueries } from './proposals.ts';
import { openRecords, type RecordQueries } from './records.ts';
import { openSandboxLinks } from './sandbox-links.ts';
import { type IdsOfSector, openIdsOfSector } from './sector-ids.ts';
import { openSharedLinks, type SharedLinkQueries } from './shared-links.ts';
import { type GrantsToEnd, openGrantsToEnd } from './to-end.ts';

/** All queries about consent. They don't check credentials: callers specify whose data to read. */
export interface ConsentQueries
  extends GrantQueries,
    RecordQueries,
    RecordLinks,
    InvitationQueries,
    AccessRequestQueries,
    SharedLinkQueries,
    ProposalQueries {
  readonly idsOfSector: IdsOfSector;
  readonly toEnd: GrantsToEnd;
  readonly ownerOf: OwnerOf;
}

/**
 * Creates the queries on a database.
 * @param devIssuer the development issuer's identifier; undefined if the installation has none
 */
export function openConsentQueries(pool: Pool, devIssuer?: string): ConsentQueries {
  const questions = {
    ...openGrants(pool),
    ...openRecords(pool, openSandboxLinks(pool), devIssuer),
    ...openRecordLinks(pool),
    ...openInvitations(pool),
    ...openAccessRequests(pool),
    ...openSharedLinks(pool),
    ...openProposals(pool),
  };
  return {
    ...wrapCalls(questions, refuseCostly),
    idsOfSector: openIdsOfSector(pool),
    toEnd: openGrantsToEnd(pool),
    ownerOf: openOwners(pool),
  };
}
