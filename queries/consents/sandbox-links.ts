/**
 * People's links to synthetic patients, computed from e-mail addresses (docs/spec/decisions.md, section 9, Sandbox): a
 * generated Patient with the person's address is the person's own record, and a Patient whose RelatedPerson has the address is
 * a dependent's record.
 */
import type { Pool } from 'pg';
import { objects, text } from '#src/fhir/parts.ts';
import { searchKey, tokenForm, valueKey } from '#src/fhir/search/keys.ts';
import { isFilling, tenantId } from '#src/shared/access/caller.ts';
import { parseStored } from '#src/shared/json/json.ts';

/** A record that a person has because of their e-mail address. */
export interface SandboxLink {
  readonly record: string;
  readonly relationship: 'self' | 'dependent';
  /** The record's current Patient as FHIR JSON. */
  readonly body: string;
  /** The name of the project whose sandbox contains the record; null if only one project or record was requested. */
  readonly keeper: string | null;
}

/** Where to look: in the sandboxes of all open projects, in one project's sandbox, or for one record. */
export interface SandboxAsked {
  readonly project?: string | undefined;
  readonly record?: string | undefined;
}

/** Reads the links for a lower-case e-mail address. */
export type SandboxLinks = (email: string, asked?: SandboxAsked) => Promise<readonly SandboxLink[]>;

interface Row {
  readonly record: string;
  readonly type: 'Patient' | 'RelatedPerson';
  readonly own: string;
  readonly body: string;
  readonly tenant: string;
}

/** The maximum number of records per address: a person has only a few in each sandbox. */
const MOST = 1_000;

// Indexes: search.entry_keys (keys), and primary keys. The first version of a generated Patient is the service's own.
const LINKS = `
select p.id as record, r.type, r.body as own, p.body, p.tenant
from search.entry e
join resources.resource r on r.id = e.id
join resources.resource p on p.id = r.record
join history.version v on v.id = p.id and v.version = 1
where e.keys && $1::int8[] and r.type in ('Patient', 'RelatedPerson') and not r.deleted
  and p.type = 'Patient' and not p.deleted and v.metadata::json -> 'credential' ->> 'kind' = 'system'
  and ($2::uuid is null or p.id = $2)
order by p.id limit ${MOST}`;

// Index: projects.project_of_organization isn't needed: every open project has a sandbox. One that is being filled has
// parts of records.
const PROJECTS = `select p.id, p.name from projects.project p where p.deleted_at is null and not ${isFilling('p')}`;

/** Opens the question. */
export function openSandboxLinks(pool: Pool): SandboxLinks {
  /** Returns the tenants to search, with their projects' names. */
  const tenants = async ({ project, record }: SandboxAsked): Promise<ReadonlyMap<string, string | null>> => {
    if (record !== undefined) {
      const { rows } = await pool.query<{ tenant: string }>({
        name: 'tenant-of-record',
        text: "select r.tenant from resources.resource r where r.id = $1::uuid and r.type = 'Patient'",
        values: [record],
      });
      return new Map(rows.map(({ tenant }) => [tenant, null]));
    }
    const projects =
      project === undefined
        ? (await pool.query<{ id: string; name: string | null }>(PROJECTS)).rows
        : [{ id: project, name: null }];
    return new Map(projects.map(({ id, name }) => [tenantId({ project: id, environment: 'sandbox' }), name]));
  };
  return async (email, asked = {}) => {
    const form = tokenForm.code(email);
    const all = await tenants(asked);
    const keys = [...all.keys()].flatMap((tenant) =>
      ['Patient', 'RelatedPerson'].map((type) => searchKey(valueKey(tenant, type, 'email', form))),
    );
    if (keys.length === 0) return [];
    const { rows } = await pool.query<Row>({
      name: 'sandbox-links',
      text: LINKS,
      values: [keys, asked.record ?? null],
    });
    const found = new Map<string, SandboxLink>();
    for (const { record, type, own, body, tenant } of rows) {
      // Addresses with the same hash need not be the same.
      if (!hasAddress(own, email)) continue;
      const relationship = type === 'Patient' ? 'self' : 'dependent';
      const keeper = all.get(tenant) ?? null;
      if (found.get(record)?.relationship !== 'self')
        found.set(record, { record, relationship, body, keeper });
    }
    return [...found.values()];
  };
}

function hasAddress(body: string, email: string): boolean {
  const points = objects(parseStored(body).telecom);
  return points.some(({ system, value }) => system === 'email' && text(value)?.toLowerCase() === email);
}
