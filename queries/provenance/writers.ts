/** Finds the API key, application or member that made a write, to the extent that the caller may see it. */
import type { EventMetadata } from '#src/events/metadata.ts';
import { tenantId } from '#src/shared/access/caller.ts';
import type { Queryable } from '../database/gather.ts';

/** The holder of the credential that made a write. */
export type Writer =
  /** A key, visible to its own project; revoked keys keep their name. `name` is null if the key is unknown. */
  | {
      readonly kind: 'api_key';
      readonly id: string;
      readonly name: string | null;
      readonly last4: string | null;
    }
  /**
   * An application with an access token. An application with a grant is shown to everyone who can see the record; any other
   * application is shown only to its own project. Deleted applications keep their name. `name` is null if the application is
   * unknown.
   */
  | { readonly kind: 'application'; readonly id: string; readonly name: string | null }
  /**
   * A member of the organization who used a token for the dashboard, shown to the member's own project. `id` is the person's
   * id at their `issuer`; `name` is the person's address in the list of members, or null.
   */
  | { readonly kind: 'member'; readonly issuer: string; readonly id: string; readonly name: string | null }
  /** Shown to other projects instead of the key, the application or the member. */
  | { readonly kind: 'organization'; readonly id: string | null; readonly name: string | null }
  /** A process of the service, such as the process that fills a sandbox. */
  | { readonly kind: 'service' };

export type Credential = EventMetadata['credential'];

interface Row {
  /** The id of the key or the application; for a member, `memberKey`. */
  readonly id: string;
  /** Null for a member without an address. */
  readonly name: string | null;
  /** Null unless it is a key. */
  readonly last4: string | null;
  readonly organization: string;
  readonly organization_name: string | null;
}

interface MemberRow extends Omit<Row, 'id' | 'last4'> {
  readonly project: string;
  readonly issuer: string;
  readonly subject: string;
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

// Indexes: primary keys of projects.project, projects.organization and projects.member.
const MEMBERS = `
  select p.id as project, x.issuer, x.subject, m.email as name, p.organization, o.name as organization_name
  from unnest($1::text[], $2::text[], $3::text[]) as x(project, issuer, subject)
  join projects.project p on p.id = x.project
  left join projects.organization o on o.id = p.organization
  left join projects.member m
    on m.organization = p.organization and m.issuer = x.issuer and m.subject = x.subject`;

/**
 * Returns the writer for each credential, in the same order, using one statement for keys, one for applications and one for
 * members; if there is nothing to look up, no statement is sent.
 * @param readBy `Calls.projectId`: the names of keys and applications are visible only to their own project
 */
export async function readWriters(
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
  const members = await readMembers(database, credentials);
  const holders = new Map([...rows, ...members].map((row) => [row.id, row]));
  return credentials.map((credential) => makeWriter(credential, holders, readBy));
}

/** Returns the data about those credentials that are members; their `id` is `memberKey`. */
async function readMembers(database: Queryable, credentials: readonly Credential[]): Promise<Row[]> {
  const asked = new Map<string, readonly string[]>();
  for (const { project, issuer, subject } of credentials)
    if (project !== undefined && issuer !== undefined && subject !== undefined)
      asked.set(memberKey(project, issuer, subject), [project, issuer, subject]);
  if (asked.size === 0) return [];
  const values = [0, 1, 2].map((column) => [...asked.values()].map((member) => member[column]));
  const { rows } = await database.query<MemberRow>({ name: 'provenance-members', text: MEMBERS, values });
  return rows.map(({ project, issuer, subject, ...row }) => ({
    ...row,
    id: memberKey(project, issuer, subject),
    last4: null,
  }));
}

const memberKey = (...member: readonly string[]): string => JSON.stringify(member);

function makeWriter(
  { kind, key_id, application, project, environment, issuer, subject }: Credential,
  holders: ReadonlyMap<string, Row>,
  readBy: string,
): Writer {
  const isMember = project !== undefined && issuer !== undefined && subject !== undefined;
  const id = key_id ?? application ?? (isMember ? memberKey(project, issuer, subject) : undefined);
  if (id === undefined) return { kind: 'service' };
  const holder = holders.get(id);
  const own =
    project !== undefined && environment !== undefined && tenantId({ project, environment }) === readBy;
  if (!own && kind !== 'grant') {
    const { organization = null, organization_name: name = null } = holder ?? {};
    return { kind: 'organization', id: organization, name };
  }
  const name = holder?.name ?? null;
  if (key_id !== undefined) return { kind: 'api_key', id, name, last4: holder?.last4 ?? null };
  if (application !== undefined) return { kind: 'application', id, name };
  return isMember ? { kind: 'member', issuer, id: subject, name } : { kind: 'service' };
}
