/** Finds the API key that made a write, as far as the caller may see it. */
import type { EventMetadata } from '#src/events/metadata.ts';
import { tenantId } from '#src/shared/tenant.ts';
import type { Queryable } from '../gather.ts';

/** The holder of the credential of a write. */
export type Writer =
  /**
   * Visible to the key's own project; revoked keys keep their name. `name` is null when the key is unknown.
   */
  | {
      readonly kind: 'api_key';
      readonly id: string;
      readonly name: string | null;
      readonly last4: string | null;
    }
  /** Shown to other projects in place of the key. */
  | { readonly kind: 'organization'; readonly id: string | null; readonly name: string | null }
  /** A process of the service, such as the one that fills a sandbox. */
  | { readonly kind: 'service' };

/** A credential as events have it. */
export type Credential = EventMetadata['credential'];

interface Row {
  readonly key_id: string;
  readonly name: string;
  readonly last4: string;
  readonly organization: string;
  readonly organization_name: string | null;
}

// Indexes: projects.api_key (key_id), unique; primary keys of projects.project and projects.organization.
const KEYS = `
  select k.key_id, k.name, k.last4, p.organization, o.name as organization_name
  from projects.api_key k
  join projects.project p on p.id = k.project
  left join projects.organization o on o.id = p.organization
  where k.key_id = any($1::text[])`;

/**
 * Returns the writer of each credential, in the same order, by one statement; none where no key is among them.
 * @param tenant `tenantId` of the caller: the names of keys are for their own project alone.
 */
export async function writersOf(
  database: Queryable,
  tenant: string,
  credentials: readonly Credential[],
): Promise<Writer[]> {
  const ids = [...new Set(credentials.flatMap(({ key_id }) => key_id ?? []))];
  const rows =
    ids.length === 0
      ? []
      : (await database.query<Row>({ name: 'provenance-writers', text: KEYS, values: [ids] })).rows;
  const keys = new Map(rows.map((row) => [row.key_id, row]));
  return credentials.map((credential) => writerOf(credential, keys, tenant));
}

function writerOf(
  { key_id: id, project, environment }: Credential,
  keys: ReadonlyMap<string, Row>,
  tenant: string,
): Writer {
  if (id === undefined) return { kind: 'service' };
  const key = keys.get(id);
  const own =
    project !== undefined && environment !== undefined && tenantId({ project, environment }) === tenant;
  return own
    ? { kind: 'api_key', id, name: key?.name ?? null, last4: key?.last4 ?? null }
    : { kind: 'organization', id: key?.organization ?? null, name: key?.organization_name ?? null };
}
