/** Tables of the read model `projects`: organizations and their members, projects, keys, applications. They are small. */

/** Returns the DDL for the tables. Keys are looked up by their hash; times are microseconds since 1970. */
export const tables = (schema: string): string => `
create table ${schema}.organization (
  id text primary key,
  name text not null,
  created_at int8 not null,
  sso_issuer text,               -- null before it has settings, as the next two
  sso_client_id text,
  sso_domains text[],            -- lower case
  sso_at int8,
  confirmed_domain text,         -- null without one
  confirmed_at int8              -- of the last confirmation, also when it has ended
);
create table ${schema}.member (
  organization text not null,
  issuer text not null,
  subject text not null,
  email text,
  role text,                     -- owner, admin, developer, auditor; null once removed
  changed_at int8 not null,
  primary key (organization, issuer, subject)
);
create table ${schema}.member_invitation (
  id text primary key,
  organization text not null,
  email text not null,           -- lower case
  role text not null,
  by_issuer text not null,       -- of the member who invited, as the next
  by_subject text not null,
  created_at int8 not null,
  expires_at int8 not null,
  ended_at int8,                 -- null while nobody has ended it; its time may be over
  end_reason text                -- accepted, withdrawn, replaced
);
create table ${schema}.project (
  id text primary key,
  organization text not null,
  name text not null,
  created_at int8 not null,
  deleted_at int8,               -- null while it is open
  filling text,                  -- reset_id of what its sandbox waits for; null once that is done
  filling_by text,               -- issuer and subject of who asked last; null: the service
  filling_at int8,               -- when they asked; null: never
  production text,               -- the operator's last word: allowed, withdrawn; null without one
  production_at int8             -- when it was given
);
create table ${schema}.production_request (
  id text primary key,
  project text not null,
  use text not null,
  issuer text,                   -- of the person who asked, as the next; null: the service
  subject text,
  created_at int8 not null,
  status text not null default 'pending', -- pending, allowed, refused
  reason text,                   -- of a refusal, for the organization
  answered_at int8               -- null while it waits
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
  expires_at int8,               -- null: never
  revoked_at int8                -- null while it works: its own end or its project's
);
create table ${schema}.blocked_host (
  host text primary key,         -- of metadata documents of guests, lower case
  blocked boolean not null,
  changed_at int8 not null
);
create table ${schema}.application (
  id text primary key,
  project text not null,
  client_id text not null unique,
  name text not null,
  environment text not null,     -- sandbox, production
  kind text not null,            -- public, confidential
  redirect_uris text[] not null,
  post_logout_redirect_uris text[] not null default '{}',
  scopes text[] not null,
  grant_types text[] not null,
  privacy_url text,
  secret_sha256 text,            -- hex; null for public ones and those with keys
  previous_sha256 text,          -- of the secret before, and until when it works; null if it ended at once
  previous_until int8,
  secret_at int8,                -- of the last rotation
  jwks text,                     -- JSON
  jwks_uri text,
  changed_at int8,               -- of the last change of the settings
  sector text,                   -- null: one of its own
  logo_uri text,
  client_uri text,
  tos_uri text,
  color text,
  logo_sha256 text,              -- hex; its bytes are in operations.application_logo
  logo_type text,
  logo_size int4,
  branded_at int8,
  trusted boolean not null,      -- by the operator
  trusted_by_others boolean not null default false, -- someone else gave it trust, which counts no more and waits for its end
  trusted_at int8,               -- of the last change
  created_at int8 not null,      -- of the last registration: guests are registered again when their document changes
  deleted_at int8
);
`;

/** Lists and look-ups. */
export const indexes = (schema: string): string => `
-- whose domain an e-mail address has; who signs in with an issuer
create index if not exists organization_sso_domains on ${schema}.organization using gin (sso_domains) with (fastupdate = off);
create index if not exists organization_sso_issuer on ${schema}.organization (sso_issuer) where sso_issuer is not null;
-- organizations of a person
create index if not exists member_of on ${schema}.member (issuer, subject);
-- projects of an organization
create index if not exists project_of_organization on ${schema}.project (organization, created_at, id);
-- requests of a project
create index if not exists production_request_of_project on ${schema}.production_request (project, created_at, id);
-- sandboxes that wait
create index if not exists project_filling on ${schema}.project (filling_at) where filling is not null;
-- invitations of an organization, and those that wait for an address
create index if not exists member_invitation_of on ${schema}.member_invitation (organization, created_at, id);
create index if not exists member_invitation_waiting on ${schema}.member_invitation (email) where ended_at is null;
-- keys of a project
create index if not exists api_key_of_project on ${schema}.api_key (project, created_at, key_id);
-- applications of a project
create index if not exists application_of_project on ${schema}.application (project, created_at, id);
-- trust that has to be ended
create index if not exists application_trusted_by_others on ${schema}.application (id) where trusted_by_others;
-- the operators' list
create index if not exists application_trusted on ${schema}.application (created_at, id) where trusted and deleted_at is null;
`;
