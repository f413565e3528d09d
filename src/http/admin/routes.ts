/** Lists all routes below `/admin` (docs/spec/interface.md, section 4.5). */
import type { Route } from '../api/route.ts';
import { PREVIEW_ROUTES } from './applications/preview.ts';
import { APPLICATION_ROUTES } from './applications/routes.ts';
import { SCOPE_ROUTES } from './applications/scopes.ts';
import { ACCESS_LOG_ROUTES } from './audit/access-log.ts';
import { CHECKPOINT_ROUTES } from './audit/checkpoints.ts';
import { EVENT_ROUTES } from './audit/events.ts';
import { EXPORT_ROUTES } from './audit/exports.ts';
import { RECEIPT_ROUTES } from './audit/receipts.ts';
import { VERIFICATION_ROUTES } from './audit/verifications.ts';
import { CONFIG_ROUTES } from './config.ts';
import { INVITATION_ROUTES } from './invitations.ts';
import { KEY_ROUTES } from './keys.ts';
import { LOG_ROUTES } from './logs.ts';
import { MEMBER_ROUTES } from './members.ts';
import { OPERATION_ROUTES } from './operations/routes.ts';
import { ORGANIZATION_ROUTES } from './organizations.ts';
import { PATIENT_ROUTES } from './patients.ts';
import { PRODUCTION_REQUEST_ROUTES } from './production-requests.ts';
import { PROJECT_ROUTES } from './projects.ts';
import { QUICKSTART_ROUTES } from './quickstart.ts';
import { CHANGE_ROUTES } from './record/changes.ts';
import { OVERVIEW_ROUTES } from './record/overview.ts';
import { RECORD_TIMELINE_ROUTES } from './record/timeline.ts';
import { SANDBOX_ROUTES } from './sandbox.ts';
import { SSO_ROUTES } from './sso.ts';
import { TAKEBACK_ROUTES } from './takebacks.ts';
import { TOKEN_ROUTES } from './tokens.ts';
import { USAGE_ROUTES } from './usage.ts';
import { WEBHOOK_ROUTES } from './webhooks.ts';

/** All admin routes, in the order used in the documentation. */
export const ADMIN_ROUTES: readonly Route[] = [
  ...ORGANIZATION_ROUTES,
  ...MEMBER_ROUTES,
  ...INVITATION_ROUTES,
  ...SSO_ROUTES,
  ...PROJECT_ROUTES,
  ...PRODUCTION_REQUEST_ROUTES,
  ...KEY_ROUTES,
  ...TOKEN_ROUTES,
  ...APPLICATION_ROUTES,
  ...SCOPE_ROUTES,
  ...PREVIEW_ROUTES,
  ...PATIENT_ROUTES,
  ...OVERVIEW_ROUTES,
  ...RECORD_TIMELINE_ROUTES,
  ...CHANGE_ROUTES,
  ...SANDBOX_ROUTES,
  ...LOG_ROUTES,
  ...EVENT_ROUTES,
  ...ACCESS_LOG_ROUTES,
  ...RECEIPT_ROUTES,
  ...EXPORT_ROUTES,
  ...VERIFICATION_ROUTES,
  ...CHECKPOINT_ROUTES,
  ...TAKEBACK_ROUTES,
  ...USAGE_ROUTES,
  ...WEBHOOK_ROUTES,
  ...QUICKSTART_ROUTES,
  ...CONFIG_ROUTES,
  ...OPERATION_ROUTES,
];
