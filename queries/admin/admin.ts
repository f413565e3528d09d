/** The read side of the admin interface: one function per query. `membership.ts` determines who may see a result. */
import type { Pool } from 'pg';
import { type InvitationQueries, openInvitations } from './invitations.ts';
import { type OperationQueries, openOperationQueries } from './operations.ts';
import { type Organizations, openOrganizations } from './organizations.ts';
import { openPatients, type Patients } from './patients.ts';
import { openProduction, type ProductionQueries } from './production.ts';
import { openProjects, type Projects } from './projects.ts';
import { openSso, type SsoQueries } from './sso.ts';
import { openTraffic, type Traffic } from './traffic.ts';

/** All queries of the admin interface. */
export type AdminQueries = Organizations &
  InvitationQueries &
  Projects &
  ProductionQueries &
  Patients &
  SsoQueries &
  Traffic &
  OperationQueries;

/** Creates the queries on a database. */
export function openAdminQueries(pool: Pool): AdminQueries {
  return {
    ...openOrganizations(pool),
    ...openInvitations(pool),
    ...openProjects(pool),
    ...openProduction(pool),
    ...openPatients(pool),
    ...openSso(pool),
    ...openTraffic(pool),
    ...openOperationQueries(pool),
  };
}
