/** Tables of schema `operations`: what is not an event, has retention, and is untouched by rebuilds. */
import { IDEMPOTENCY_SQL } from './idempotency.ts';
import { KEY_USE_SQL } from './key-use.ts';
import { RATE_LIMIT_SQL } from './limit-leases.ts';
import { PROCESS_SQL } from './process.ts';
import { REQUEST_LOG_SQL } from './request-log.ts';
import { SNAPSHOTS_SQL } from './snapshots.ts';
import { USAGE_SQL } from './usage.ts';

export { CONTEXT_MANIFESTS_SQL } from './context-manifests.ts';
export { DEV_ISSUER_SQL } from './dev-issuer.ts';
export { READ_ANSWERS_SQL, RETRY_SECRETS_SQL } from './idempotency.ts';
export { DOCUMENT_KEY_SQL } from './installation-key.ts';
export { LATE_WRITES_SQL } from './late-writes.ts';
export { LOG_IDENTITY_SQL } from './log-identity.ts';
export { LOG_MARK_SQL } from './log-mark.ts';
export { PARKED_SQL } from './parked.ts';
export { REQUEST_LOG_FORGOTTEN_SQL, REQUEST_LOG_KEYS_SQL } from './request-log.ts';
export { WEBHOOK_FORGOTTEN_SQL, WEBHOOKS_SQL } from './webhook-tables.ts';

/** DDL of the schema as it began. */
export const OPERATIONS_SCHEMA_SQL = [
  'CREATE SCHEMA operations;',
  SNAPSHOTS_SQL,
  PROCESS_SQL,
  IDEMPOTENCY_SQL,
].join('\n');

/** A migration: what is counted and noted of each request. */
export const RATE_AND_USAGE_SQL = [RATE_LIMIT_SQL, REQUEST_LOG_SQL, USAGE_SQL, KEY_USE_SQL].join('\n');
