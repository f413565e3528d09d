/** Tables of schema `operations`: what is not an event, has retention, and is untouched by rebuilds. */
import { IDEMPOTENCY_SQL } from './idempotency.ts';
import { PROCESS_SQL } from './process.ts';
import { SNAPSHOTS_SQL } from './snapshots.ts';

/** DDL of the whole schema. */
export const OPERATIONS_SCHEMA_SQL = [
  'CREATE SCHEMA operations;',
  SNAPSHOTS_SQL,
  PROCESS_SQL,
  IDEMPOTENCY_SQL,
].join('\n');
