/**
 * Reads the caller to whom an API key belongs. The database is queried for every request, without a cache, so that a
 * revocation takes effect immediately. The database's clock determines whether a key has expired.
 */
import { type Caller, type Environment, isFilling, ownCaller } from '#src/shared/access/caller.ts';
import type { Line } from './database/gather.ts';

/** Finds the caller by the hex SHA-256 of an API key; undefined if the key is unknown, revoked or expired. */
export type ApiKeyCaller = (sha256: string) => Promise<Caller | undefined>;

interface Row {
  readonly sha256: string;
  readonly key_id: string;
  readonly project: string;
  readonly environment: Environment;
  readonly scopes: ('read' | 'write')[];
  readonly filling: boolean | null;
}

// Indexes: primary keys of projects.api_key (sha256) and projects.project.
const API_KEYS = `
  select k.sha256, k.key_id, k.project, k.environment, k.scopes, ${isFilling('p')} as filling
  from projects.api_key k
  left join projects.project p on p.id = k.project
  where k.sha256 = any($1::text[]) and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > (extract(epoch from now()) * 1000000)::int8)`;

/** Creates the API key lookup on a line; lookups that arrive at the same time share a statement. */
export function openApiKeys(line: Line): ApiKeyCaller {
  return line.gather<string, Caller | undefined>(async (database, hashes) => {
    const { rows } = await database.query<Row>({
      name: 'api-keys',
      text: API_KEYS,
      values: [[...new Set(hashes)]],
    });
    const callers = new Map(rows.map((row) => [row.sha256, toCaller(row)]));
    return hashes.map((hash) => callers.get(hash));
  });
}

function toCaller(row: Row): Caller {
  const tenant = { project: row.project, environment: row.environment };
  return ownCaller(tenant, { kind: 'api_key', keyId: row.key_id }, row.scopes, row.filling === true);
}
