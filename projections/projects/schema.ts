/** Tables of the read model `projects`: organizations, their projects and the keys that open them. Small. */

/** All of them; a key is looked up by its hash. */
export const tables = (schema: string): string => `
create table ${schema}.organization (
  id text primary key,
  name text not null,
  created_at int8 not null       -- microseconds since 1970, as everywhere below
);
create table ${schema}.project (
  id text primary key,
  organization text not null,
  name text not null,
  created_at int8 not null
);
create table ${schema}.api_key (
  sha256 text primary key,       -- hex digest of the key: what authentication looks up
  key_id text not null unique,
  project text not null,
  environment text not null,     -- sandbox, production
  name text not null,
  scopes text[] not null,        -- read, write
  last4 text not null,
  created_at int8 not null,
  revoked_at int8                -- null while it works
);
`;

/** Lists. */
export const indexes = (schema: string): string => `
-- projects of an organization
create index if not exists project_of_organization on ${schema}.project (organization, created_at, id);
-- keys of a project
create index if not exists api_key_of_project on ${schema}.api_key (project, created_at, key_id);
`;
