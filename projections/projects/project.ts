/** The read model `projects`: who may call. Few events, so rows go in as plain JSON whatever the load. */
import type { QueryConfig } from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import { toMicros } from '#src/shared/time.ts';
import type { Projection } from '../projection.ts';
import { runAll } from '../rows.ts';
import { indexes, tables } from './schema.ts';

const organizationSql = (schema: string) => `
insert into ${schema}.organization (id, name, created_at)
select id, name, created_at from json_to_recordset($1::json) as x(id text, name text, created_at int8)
on conflict (id) do nothing`;

const projectSql = (schema: string) => `
insert into ${schema}.project (id, organization, name, created_at)
select id, organization, name, created_at
from json_to_recordset($1::json) as x(id text, organization text, name text, created_at int8)
on conflict (id) do nothing`;

const keySql = (schema: string) => `
insert into ${schema}.api_key (sha256, key_id, project, environment, name, scopes, last4, created_at)
select sha256, key_id, project, environment, name, scopes, last4, created_at
from json_to_recordset($1::json) as x(sha256 text, key_id text, project text, environment text, name text,
  scopes text[], last4 text, created_at int8)
on conflict (sha256) do nothing`;

const revocationSql = (schema: string) => `
update ${schema}.api_key k set revoked_at = x.revoked_at
from json_to_recordset($1::json) as x(key_id text, revoked_at int8)
where k.key_id = x.key_id and k.revoked_at is null`;

function statements(schema: string, events: readonly StoredEvent[]): QueryConfig[] {
  const organizations: object[] = [];
  const projects: object[] = [];
  const keys: object[] = [];
  const revocations: object[] = [];
  for (const { event, metadata, stream } of events) {
    const at = toMicros(metadata.recorded_at);
    switch (event.type) {
      case 'OrganizationCreated':
        organizations.push({ id: event.data.organization_id, name: event.data.name, created_at: at });
        break;
      case 'ProjectCreated': {
        const { project_id: id, organization_id: organization, name } = event.data;
        projects.push({ id, organization, name, created_at: at });
        break;
      }
      case 'ApiKeyCreated':
        keys.push({ ...event.data, project: stream.slice('project-'.length), created_at: at });
        break;
      case 'ApiKeyRevoked':
        revocations.push({ key_id: event.data.key_id, revoked_at: at });
        break;
    }
  }
  // In this order: a key made and revoked in one batch is there when its revocation comes.
  const steps = [
    [organizationSql, organizations],
    [projectSql, projects],
    [keySql, keys],
    [revocationSql, revocations],
  ] as const;
  return steps.flatMap(([sql, rows]) =>
    rows.length > 0 ? [{ text: sql(schema), values: [JSON.stringify(rows)] }] : [],
  );
}

/** Serves authentication. */
export const projects: Projection = {
  name: 'projects',
  version: 1,
  prefixes: ['organization-', 'project-'],
  tables,
  indexes,
  compared: ['organization', 'project', 'api_key'],
  statements,
  load: (tx, schema, events) => runAll(tx, statements(schema, events)),
};
