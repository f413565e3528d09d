/** Every change of the tables that no projection owns, oldest first. A step that was released is never edited. */
import { LOG_SCHEMA_SQL } from '#src/events/postgres/schema.ts';
import {
  CONTEXT_MANIFESTS_SQL,
  DEV_ISSUER_SQL,
  DOCUMENT_KEY_SQL,
  LATE_WRITES_SQL,
  LOG_IDENTITY_SQL,
  LOG_MARK_SQL,
  OPERATIONS_SCHEMA_SQL,
  PARKED_SQL,
  RATE_AND_USAGE_SQL,
  READ_ANSWERS_SQL,
  REQUEST_LOG_FORGOTTEN_SQL,
  REQUEST_LOG_KEYS_SQL,
  RETRY_SECRETS_SQL,
  WEBHOOK_FORGOTTEN_SQL,
  WEBHOOKS_SQL,
} from '#src/operations/schema.ts';
import { TERMINOLOGY_INDEX_SQL, TERMINOLOGY_SQL, TERMINOLOGY_WORDS_SQL } from '#src/terminology/schema.ts';

/** One step, taken in a transaction of its own. */
export interface Migration {
  /** Number and subject; what the database remembers. */
  readonly name: string;
  readonly sql: string;
}

/** The steps in order. Projections make their own schemas: they are rebuilt, not migrated. */
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
];
