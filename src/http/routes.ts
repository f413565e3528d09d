/** Lists all routes. The server serves them, and the OpenAPI document describes them. */

import { ADMIN_ROUTES } from './admin/routes.ts';
import type { OpenRoute } from './api/open-route.ts';
import type { Route } from './api/route.ts';
import { AUDIT_KEY_ROUTES } from './audit-keys.ts';
import { DOCUMENTATION_ROUTES } from './docs/routes.ts';
import { HEALTH_ROUTES } from './health.ts';
import { MCP_ROUTES } from './mcp/routes.ts';
import { ME_ROUTES } from './me/routes.ts';
import { DISCOVERY_ROUTES } from './oauth/discovery.ts';
import { CLIENT_ROUTES } from './oauth/endpoints/routes.ts';
import { LOGO_ROUTES } from './oauth/logos.ts';
import { REST_ROUTES } from './rest/routes.ts';
import { SHARED_LINK_ROUTES } from './shl/routes.ts';
import { START_ROUTES } from './start/routes.ts';
import { WEBFINGER_ROUTES } from './webfinger.ts';
import { WEBHOOK_ROUTES } from './webhooks/routes.ts';

/** The JSON interfaces' routes, in the order used in the documentation. */
export const ROUTES: readonly Route[] = [...REST_ROUTES, ...WEBHOOK_ROUTES, ...ADMIN_ROUTES, ...ME_ROUTES];

/** The routes that need no credential from a project or person, or that check a credential themselves. */
export const OPEN_ROUTES: readonly OpenRoute[] = [
  ...START_ROUTES,
  ...HEALTH_ROUTES,
  ...DOCUMENTATION_ROUTES,
  ...WEBFINGER_ROUTES,
  ...AUDIT_KEY_ROUTES,
  ...DISCOVERY_ROUTES,
  ...CLIENT_ROUTES,
  ...LOGO_ROUTES,
  ...SHARED_LINK_ROUTES,
  ...MCP_ROUTES,
];

/** All of them. */
export const ALL_ROUTES = [...ROUTES, ...OPEN_ROUTES];
