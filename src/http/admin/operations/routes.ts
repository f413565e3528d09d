/** Lists all routes below `/admin/operations`, for operators of the installation (docs/operations.md#over-http). */
import type { Route } from '../../api/route.ts';
import { FAILED_REQUEST_ROUTES } from './failed-requests.ts';
import { FOLLOWER_ROUTES } from './followers.ts';
import { HEALTH_ROUTES } from './health.ts';
import { PROJECT_DECISION_ROUTES } from './projects.ts';
import { REBUILD_ROUTES } from './rebuilds.ts';
import { SIZE_ROUTES } from './sizes.ts';

/** All of them. */
export const OPERATION_ROUTES: readonly Route[] = [
  ...HEALTH_ROUTES,
  ...FOLLOWER_ROUTES,
  ...REBUILD_ROUTES,
  ...SIZE_ROUTES,
  ...FAILED_REQUEST_ROUTES,
  ...PROJECT_DECISION_ROUTES,
];
