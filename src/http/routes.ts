/** All routes of the JSON interfaces, which the server serves and the OpenAPI document describes. */
import { ADMIN_ROUTES } from './admin/routes.ts';
import type { Route } from './api/route.ts';
import { ME_ROUTES } from './me/routes.ts';
import { REST_ROUTES } from './rest/routes.ts';
import { WEBHOOK_ROUTES } from './webhooks/routes.ts';

/** All routes, in the order of the documentation. */
export const ROUTES: readonly Route[] = [...REST_ROUTES, ...WEBHOOK_ROUTES, ...ADMIN_ROUTES, ...ME_ROUTES];
