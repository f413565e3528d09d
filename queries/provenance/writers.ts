/** Finds the API key or application that made a write, as far as the caller may see it. */
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
  /**
   * An application with an access token, shown to the application's own project; deleted ones keep their name. `name` is
   * null when the application is unknown.
   */
  | { readonly kind: 'application'; readonly id: string; readonly name: string | null }
  /** Shown to other projects in place of the key or the application. */
  | { readonly kind: 'organization'; readonly id: string | null; readonly name: string | null }
  /** A process of the service, such as the one that fills a sandbox. */
  | { readonly kind: 'service' };

/** A credential as events have it. */
export type Credential = EventMetadata['credential'];

interface Row {
  /** Of the key or the application. */
  readonly id: string;
  readonly name: string;
  /** Null for an application. */
  readonly last4: string | null;
  readonly organization: string;
  readonly organization_name: string | null;
}

// Indexes: projects.api_key (key_id), unique; primary keys of projects.project and projects.organization.
const KEYS = `
  select k.key_id as id, k.name, k.last4, p.organization, o.name as organization_name
  from projects.api_key k
  join projects.project p on p.id = k.project
  left join projects.organization o on o.id = p.organization
  where k.key_id = any($1::text[])`;

// Indexes: primary keys of projects.application, projects.project and projects.organization.
const APPLICATIONS = `
  select a.id, a.name, null as last4, p.organization, o.name as organization_name
  from projects.application a
  join projects.project p on p.id = a.project
  left join projects.organization o on o.id = p.organization
  where a.id = any($1::text[])`;

/**
 * Returns the writer of each credential, in the same order, by a statement for keys and one for applications; none where
 * there are none of them.
 * @param readBy `Calls.projectId`: the names of keys and applications are for their own project alone.
 */
export async function writersOf(
  database: Queryable,
  readBy: string,
  credentials: readonly Credential[],
): Promise<Writer[]> {
  const ask = async (name: string, text: string, ids: readonly (string | undefined)[]): Promise<Row[]> => {
    const known = [...new Set(ids.flatMap((id) => id ?? []))];
    return known.length === 0 ? [] : (await database.query<Row>({ name, text, values: [known] })).rows;
  };
  const keys = credentials.map(({ key_id }) => key_id);
  const applications = credentials.map(({ application }) => application);
  const rows = [
    ...(await ask('provenance-writers', KEYS, keys)),
    ...(await ask('provenance-applications', APPLICATIONS, applications)),
  ];
  const holders = new Map(rows.map((row) => [row.id, row]));
  return credentials.map((credential) => writerOf(credential, holders, readBy));
}

function writerOf(
  { key_id, application, project, environment }: Credential,
  holders: ReadonlyMap<string, Row>,
  readBy: string,
): Writer {
  const id = key_id ?? application;
  if (id === undefined) return { kind: 'service' };
  const holder = holders.get(id);
  const own =
    project !== undefined && environment !== undefined && tenantId({ project, environment }) === readBy;
  if (!own) {
    const { organization = null, organization_name: name = null } = holder ?? {};
    return { kind: 'organization', id: organization, name };
  }
  const name = holder?.name ?? null;
  return key_id === undefined
    ? { kind: 'application', id, name }
    : { kind: 'api_key', id, name, last4: holder?.last4 ?? null };
}
