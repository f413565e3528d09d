/** Every route of the JSON interfaces: what the server answers and the OpenAPI document describes. */
import { ADMIN_ROUTES } from './admin/routes.ts';
import type { Route } from './api/route.ts';
import { REST_ROUTES } from './rest/routes.ts';
import { WEBHOOK_ROUTES } from './webhooks/routes.ts';

/** In the order of the documentation. */
export const ROUTES: readonly Route[] = [...REST_ROUTES, ...WEBHOOK_ROUTES, ...ADMIN_ROUTES];
