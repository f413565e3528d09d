/** Lists all routes below `/me` (docs/spec/interface.md, section 4.6). */
import type { Route } from '../api/route.ts';
import { MY_ACCESS_LOG_ROUTES } from './access-log.ts';
import { ACCESS_REQUEST_ROUTES } from './access-requests.ts';
import { MY_GRANT_ROUTES } from './grants.ts';
import { MY_LINK_ROUTES } from './links.ts';
import { MUTED_ROUTES } from './muted.ts';
import { MY_PATIENT_ROUTES } from './patients.ts';
import { MY_PROPOSAL_ROUTES } from './proposals.ts';
import { PURGE_ROUTES } from './purge.ts';
import { MY_RECEIPT_ROUTES } from './receipts.ts';
import { REVOKE_ROUTES } from './revoke.ts';
import { MY_SESSION_ROUTES } from './sessions.ts';
import { SHARED_LINK_ROUTES } from './shared-links.ts';

/** All routes, in the order used in the documentation. */
export const ME_ROUTES: readonly Route[] = [
  ...MY_PATIENT_ROUTES,
  ...PURGE_ROUTES,
  ...MY_GRANT_ROUTES,
  ...REVOKE_ROUTES,
  ...MY_ACCESS_LOG_ROUTES,
  ...MY_RECEIPT_ROUTES,
  ...MY_LINK_ROUTES,
  ...ACCESS_REQUEST_ROUTES,
  ...MUTED_ROUTES,
  ...SHARED_LINK_ROUTES,
  ...MY_PROPOSAL_ROUTES,
  ...MY_SESSION_ROUTES,
];
