/** Tables of schema `operations`: what is not an event, has retention, and is untouched by rebuilds. */
import { IDEMPOTENCY_SQL } from './idempotency.ts';
import { PROCESS_SQL } from './process.ts';
import { SNAPSHOTS_SQL } from './snapshots.ts';

export { READ_ANSWERS_SQL, RETRY_SECRETS_SQL } from './idempotency.ts';
export { LOG_IDENTITY_SQL } from './log-identity.ts';
export { LOG_MARK_SQL } from './log-mark.ts';
export { PARKED_SQL } from './parked.ts';
export { WEBHOOKS_SQL } from './webhook-tables.ts';

/** DDL of the schema as it began. */
export const OPERATIONS_SCHEMA_SQL = [
  'CREATE SCHEMA operations;',
  SNAPSHOTS_SQL,
  PROCESS_SQL,
  IDEMPOTENCY_SQL,
].join('\n');
