/** A project in one of its two environments: the unit of isolation (docs/spec/interface.md, section 1). */
import { createHash } from 'node:crypto';

/** Sandbox and production are strictly separate. */
export type Environment = 'sandbox' | 'production';

/** The owner of a record or a directory. */
export interface Tenant {
  readonly project: string;
  readonly environment: Environment;
}

const ids = new Map<string, string>();

/** Returns the tenant as a UUID for the rows of read models: 16 bytes instead of 40. It is derived, never looked up. */
export function tenantId(tenant: Tenant): string {
  const key = `${tenant.project}/${tenant.environment}`;
  const known = ids.get(key);
  if (known !== undefined) return known;
  const hex = createHash('sha256').update(key).digest('hex').slice(0, 32);
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  if (ids.size < 10_000) ids.set(key, id);
  return id;
}
