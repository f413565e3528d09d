/** All changes to tables that don't belong to a projection, oldest first. Once released, a step is never edited. */

import { DEV_ISSUER_SQL } from '#src/dev-issuer/store.ts';
import { LOG_SCHEMA_SQL } from '#src/events/postgres/schema.ts';
import { CLIENT_ASSERTIONS_SQL } from '#src/oauth/assertion-ids.ts';
import { AUTHORIZATION_OUTCOME_SQL, AUTHORIZATION_REQUEST_SQL } from '#src/oauth/authorization/pending.ts';
import { ACCESS_REQUESTS_SQL } from '#src/oauth/backchannel/tables.ts';
import { CLIENT_FAILURES_SQL } from '#src/oauth/failure-limit.ts';
import { GUEST_DOCUMENTS_SQL } from '#src/oauth/guests/documents.ts';
import { SIGNING_KEYS_SQL } from '#src/oauth/signing-keys.ts';
import { MEMBER_TOKENS_SQL, OAUTH_NONCE_SQL, OAUTH_TOKENS_SQL } from '#src/oauth/tables.ts';
import {
  ACCESS_LOG_NAMES_SQL,
  ACCESS_LOG_SQL,
  ACCESS_OF_GRANTS_SQL,
} from '#src/operations/access-log/schema.ts';
import { ACCESS_USE_SQL } from '#src/operations/access-log/use.ts';
import { APPLICATION_LOGOS_SQL } from '#src/operations/application-logos.ts';
import { CHECKPOINTS_SQL } from '#src/operations/checkpoints.ts';
import { CONTEXT_MANIFESTS_SQL } from '#src/operations/context-manifests.ts';
import { ERASING_SQL } from '#src/operations/erasing.ts';
import { IDEMPOTENCY_SQL, READ_ANSWERS_SQL, RETRY_SECRETS_SQL } from '#src/operations/idempotency.ts';
import { DOCUMENT_KEY_SQL, IDEMPOTENCY_KEY_SQL, PAIRWISE_KEY_SQL } from '#src/operations/installation-key.ts';
import { INSTANCE_RUNS_SQL, INSTANCES_SQL } from '#src/operations/instances.ts';
import { INVITATIONS_SQL } from '#src/operations/invitations.ts';
import { JOBS_SQL } from '#src/operations/jobs/jobs.ts';
import { LATE_WRITES_SQL } from '#src/operations/late-writes.ts';
import { RATE_LIMIT_SQL } from '#src/operations/limit-leases.ts';
import { LOG_IDENTITY_SQL } from '#src/operations/log-identity.ts';
import { LOG_MARK_SQL } from '#src/operations/log-mark.ts';
import { RENDERERS_SQL } from '#src/operations/receipts/renderers.ts';
import {
  LINK_RECEIPTS_SQL,
  RECEIPTS_SQL,
  RECEIPTS_UNCOMPRESSED_SQL,
} from '#src/operations/receipts/schema.ts';
import { RECORD_VISITS_SQL } from '#src/operations/record-visits.ts';
import {
  REQUEST_LOG_APPLICATION_SQL,
  REQUEST_LOG_ERROR_SQL,
  REQUEST_LOG_FAILED_SQL,
  REQUEST_LOG_FORGOTTEN_SQL,
  REQUEST_LOG_KEYS_SQL,
  REQUEST_LOG_SQL,
} from '#src/operations/request-log.ts';
import { SHARED_LINKS_SQL } from '#src/operations/shared-links.ts';
import { SIZE_SAMPLES_SQL } from '#src/operations/size-samples.ts';
import {
  SNAPSHOT_CONSENT_SQL,
  SNAPSHOT_FOLD_SQL,
  SNAPSHOT_SHARED_LINKS_SQL,
  SNAPSHOTS_SQL,
} from '#src/operations/snapshots.ts';
import { TAKEBACKS_SQL } from '#src/operations/takebacks/takebacks.ts';
import { KEY_USE_SQL, USAGE_ERRORS_SQL, USAGE_SQL } from '#src/operations/usage.ts';
import { PARKED_SQL } from '#src/processes/parked.ts';
import { PROCESS_SQL } from '#src/processes/process.ts';
import { WEBHOOK_FORGOTTEN_SQL, WEBHOOK_GRANTS_SQL, WEBHOOKS_SQL } from '#src/reactions/webhooks/tables.ts';
import { SIGN_IN_PROMPT_SQL, SIGN_IN_SQL, SIGN_IN_SSO_SQL } from '#src/signin/tables.ts';
import { CONCEPT_CODES_SQL, CONCEPTS_SQL } from '#src/terminology/concepts/schema.ts';
import {
  TERMINOLOGY_INDEX_SQL,
  TERMINOLOGY_NAMES_SQL,
  TERMINOLOGY_SQL,
  TERMINOLOGY_WORDS_SQL,
} from '#src/terminology/schema.ts';

/** A migration, run in its own transaction. */
export interface Migration {
  /** Number and subject; stored in the database. */
  readonly name: string;
  readonly sql: string;
}

/** The first version of the schema `operations`. */
const OPERATIONS_SCHEMA_SQL = ['CREATE SCHEMA operations;', SNAPSHOTS_SQL, PROCESS_SQL, IDEMPOTENCY_SQL].join(
  '\n',
);

/** The tables for request counts and the request log. */
const RATE_AND_USAGE_SQL = [RATE_LIMIT_SQL, REQUEST_LOG_SQL, USAGE_SQL, KEY_USE_SQL].join('\n');

/** The steps, in order. Projections create their own schemas, which are rebuilt instead of migrated. */
export const MIGRATIONS: readonly Migration[] = [
  { name: '0001-log', sql: LOG_SCHEMA_SQL },
  { name: '0002-operations', sql: OPERATIONS_SCHEMA_SQL },
  { name: '0003-parked-events', sql: PARKED_SQL },
  { name: '0004-answers-of-reads', sql: READ_ANSWERS_SQL },
  { name: '0005-log-identity', sql: LOG_IDENTITY_SQL },
  { name: '0006-terminology', sql: TERMINOLOGY_SQL },
  { name: '0007-log-mark', sql: LOG_MARK_SQL },
  { name: '0008-rate-and-usage', sql: RATE_AND_USAGE_SQL },
  { name: '0010-identity', sql: DEV_ISSUER_SQL },
  { name: '0011-retry-secrets', sql: RETRY_SECRETS_SQL },
  { name: '0013-webhooks', sql: WEBHOOKS_SQL },
  { name: '0014-request-log-forgotten', sql: REQUEST_LOG_FORGOTTEN_SQL },
  { name: '0020-documents', sql: DOCUMENT_KEY_SQL },
  { name: '0021-request-log-keys', sql: REQUEST_LOG_KEYS_SQL },
  { name: '0024-context-manifests', sql: CONTEXT_MANIFESTS_SQL },
  { name: '0025-webhook-forgotten', sql: WEBHOOK_FORGOTTEN_SQL },
  { name: '0026-terminology-words', sql: TERMINOLOGY_WORDS_SQL },
  { name: '0027-terminology-index', sql: TERMINOLOGY_INDEX_SQL },
  { name: '0030-late-writes', sql: LATE_WRITES_SQL },
  { name: '0031-snapshot-fold', sql: SNAPSHOT_FOLD_SQL },
  { name: '0040-consent', sql: [PAIRWISE_KEY_SQL, SNAPSHOT_CONSENT_SQL].join('\n') },
  { name: '0041-invitations', sql: INVITATIONS_SQL },
  { name: '0042-erasing', sql: ERASING_SQL },
  { name: '0045-application-logos', sql: APPLICATION_LOGOS_SQL },
  { name: '0046-client-authentication', sql: [CLIENT_ASSERTIONS_SQL, CLIENT_FAILURES_SQL].join('\n') },
  { name: '0048-oauth-tokens', sql: OAUTH_TOKENS_SQL },
  { name: '0049-signing-keys', sql: SIGNING_KEYS_SQL },
  { name: '0051-sign-in', sql: SIGN_IN_SQL },
  { name: '0052-sign-in-prompt', sql: SIGN_IN_PROMPT_SQL },
  { name: '0054-authorization-requests', sql: AUTHORIZATION_REQUEST_SQL },
  { name: '0056-request-log-application', sql: REQUEST_LOG_APPLICATION_SQL },
  { name: '0057-idempotency-key', sql: IDEMPOTENCY_KEY_SQL },
  { name: '0058-access-log', sql: ACCESS_LOG_SQL },
  { name: '0061-webhook-grants', sql: WEBHOOK_GRANTS_SQL },
  { name: '0062-member-tokens', sql: MEMBER_TOKENS_SQL },
  { name: '0064-authorization-outcome', sql: AUTHORIZATION_OUTCOME_SQL },
  { name: '0074-access-requests', sql: ACCESS_REQUESTS_SQL },
  { name: '0075-access-of-grants', sql: ACCESS_OF_GRANTS_SQL },
  {
    name: '0078-shared-links',
    sql: [SHARED_LINKS_SQL, SNAPSHOT_SHARED_LINKS_SQL, ACCESS_LOG_NAMES_SQL].join('\n'),
  },
  { name: '0090-concepts', sql: CONCEPTS_SQL },
  { name: '0091-record-visits', sql: RECORD_VISITS_SQL },
  { name: '0092-sign-in-sso', sql: SIGN_IN_SSO_SQL },
  { name: '0093-access-use', sql: ACCESS_USE_SQL },
  { name: '0094-terminology-names', sql: TERMINOLOGY_NAMES_SQL },
  { name: '0095-oauth-nonce', sql: OAUTH_NONCE_SQL },
  { name: '0096-concept-codes', sql: CONCEPT_CODES_SQL },
  { name: '0097-request-log-error', sql: REQUEST_LOG_ERROR_SQL },
  { name: '0098-usage-errors', sql: USAGE_ERRORS_SQL },
  { name: '0099-jobs', sql: [JOBS_SQL, INSTANCES_SQL].join('\n') },
  { name: '0101-checkpoints', sql: CHECKPOINTS_SQL },
  { name: '0102-operators', sql: [INSTANCE_RUNS_SQL, SIZE_SAMPLES_SQL].join('\n') },
  { name: '0104-guest-documents', sql: GUEST_DOCUMENTS_SQL },
  { name: '0105-request-log-failed', sql: REQUEST_LOG_FAILED_SQL },
  { name: '0106-takebacks', sql: TAKEBACKS_SQL },
  { name: '0107-receipts', sql: RECEIPTS_SQL },
  { name: '0108-renderers', sql: [RENDERERS_SQL, LINK_RECEIPTS_SQL].join('\n') },
  { name: '0109-receipts-uncompressed', sql: RECEIPTS_UNCOMPRESSED_SQL },
];
