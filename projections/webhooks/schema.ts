/** The table of the read model `webhooks`, and the statements that fill it: each takes its rows as a single JSON text. */

/** Returns the DDL for the table; times are microseconds since 1970. */
export const tables = (schema: string): string => `
create table ${schema}.endpoint (
  id text primary key,
  project text not null,
  environment text not null,     -- sandbox, production
  url text not null,
  events text[] not null,        -- types, or only *
  description text,
  active boolean not null,
  settings_at int8 not null,
  secret text not null,          -- sealed (src/shared/access/sealed.ts)
  secret_at int8 not null,
  created_at int8 not null,
  deleted_at int8                -- null while it is there
);
`;

/** Lists. */
export const indexes = (schema: string): string => `
-- endpoints of a project, deleted ones too, when it is deleted
create index if not exists endpoint_of_project on ${schema}.endpoint (project, environment, created_at, id);
`;

/**
 * A change has its event's time, and is replaced by a later change, so that repeating a batch, or dividing it differently,
 * produces the same rows. Listed in order of execution.
 */
export const STATEMENTS = {
  endpoint: (schema: string) => `
insert into ${schema}.endpoint
  (id, project, environment, url, events, description, active, settings_at, secret, secret_at, created_at)
select id, project, environment, url, events, description, active, at, secret, at, at
from json_to_recordset($1::json) as x(id text, project text, environment text, url text, events text[],
  description text, active boolean, secret text, at int8)
on conflict (id) do nothing`,

  settings: (schema: string) => `
update ${schema}.endpoint e
set url = x.url, events = x.events, description = x.description, active = x.active, settings_at = x.at
from (select distinct on (id) * from json_to_recordset($1::json)
  as x(id text, url text, events text[], description text, active boolean, at int8) order by id, at desc) x
where e.id = x.id and e.settings_at < x.at`,

  secret: (schema: string) => `
update ${schema}.endpoint e set secret = x.secret, secret_at = x.at
from (select distinct on (id) * from json_to_recordset($1::json)
  as x(id text, secret text, at int8) order by id, at desc) x
where e.id = x.id and e.secret_at < x.at`,

  end: (schema: string) => `
update ${schema}.endpoint e set deleted_at = x.at
from json_to_recordset($1::json) as x(id text, at int8)
where e.id = x.id and e.deleted_at is null`,

  projectEnd: (schema: string) => `
update ${schema}.endpoint e set deleted_at = x.at
from json_to_recordset($1::json) as x(project text, at int8)
where e.project = x.project and e.deleted_at is null`,
} as const;

export type StatementName = keyof typeof STATEMENTS;
