/**
 * Tables of the read model `consents`: grants of applications, their proposals, links between people and records, shared
 * links, and the events of records that aren't versions of resources.
 */

/** Returns the DDL for the tables; times are microseconds since 1970. */
export const tables = (schema: string): string => `
create table ${schema}.grants (
  grant_id text primary key,
  record uuid not null,
  application_id text not null,
  project text not null,         -- of the application
  environment text not null,     -- sandbox, production
  sector text not null,
  issuer text not null,          -- of the person, with subject
  subject text not null,
  patient uuid not null,         -- the pairwise id of the Patient
  pairwise_subject text not null,
  scopes text[] not null,
  purpose text,
  granted_by text not null,      -- patient, representative, creator
  granted_at int8 not null,
  expires_at int8 not null,
  lang text not null,
  sentences text[] not null,
  ended_at int8,                 -- null until an event ends it; it may have expired before
  end_reason text,               -- null with it: expired, or the reason of ConsentRevoked
  owner_project text not null,   -- of the record
  owner_environment text not null
);
create table ${schema}.links (
  link_id text primary key,
  record uuid not null,
  owner_project text not null,
  environment text not null,
  issuer text not null,
  subject text not null,
  relationship text not null,    -- self, dependent
  via text not null,             -- invitation, own, identity_grant
  linked_at int8 not null,
  unlinked_at int8,              -- null while it holds
  reason text                    -- null with it: patient, project
);
create table ${schema}.shared_links (
  link_id text primary key,
  record uuid not null,
  owner_project text not null,
  environment text not null,
  issuer text not null,          -- of the person who made it, with subject
  subject text not null,
  label text,
  content text not null,         -- summary, everything, document/<id>
  long_term boolean not null,
  passcode boolean not null,
  created_at int8 not null,
  expires_at int8 not null,
  ended_at int8,                 -- null until an event ends it; it may have expired before
  reason text                    -- null with it: patient, expired, passcode, link_ended, platform
);
create table ${schema}.proposals (
  proposal_id text primary key,
  grant_id text not null,        -- that it was made under
  record uuid not null,
  application_id text not null,
  operation text not null,       -- create, update
  resource_type text not null,
  resource_id uuid,              -- of an update; of a creation null until it is accepted
  base_version int,              -- of an update
  author_type text not null,
  resource text not null,        -- exact FHIR JSON text, without version and time
  rationale text,
  made_at int8 not null,
  expires_at int8 not null,
  ended_at int8,                 -- null until an event ends it; it may have lapsed before
  status text,                   -- null with it: accepted, rejected, withdrawn, superseded, expired
  version int                    -- of an accepted one: the version that it became
);
create table ${schema}.erased_grants (
  grant_id text primary key,     -- what a purge leaves of a grant
  application_id text not null,
  granted_at int8 not null,
  ended_at int8 not null
);
create table ${schema}.events (
  event_id uuid primary key,
  tenant uuid not null,
  record uuid not null,
  type text not null,
  recorded_at int8 not null,
  metadata text not null         -- JSON of the event's metadata without append and hash
);
-- grants, links and shared links of a record; all of them when it is erased
create index grants_of_record on ${schema}.grants (record, granted_at, grant_id);
create index links_of_record on ${schema}.links (record, linked_at, link_id);
create index shared_links_of_record on ${schema}.shared_links (record, created_at, link_id);
-- proposals of a record
create index proposals_of_record on ${schema}.proposals (record, made_at, proposal_id);
-- events of a record
create index events_of_record on ${schema}.events (record, recorded_at, event_id);
`;

/** Lists and look-ups. */
export const indexes = (schema: string): string => `
-- grants of an application, of a project's applications, and of a person
create index if not exists grants_of_application on ${schema}.grants (application_id, granted_at, grant_id);
create index if not exists grants_of_project on ${schema}.grants (project, environment, granted_at, grant_id);
create index if not exists grants_of_person on ${schema}.grants (issuer, subject, granted_at, grant_id);
-- grants that the end of an application or project ends: its own, those of its applications, those on its records
create index if not exists open_grants_of_application on ${schema}.grants (application_id, grant_id)
  where ended_at is null;
create index if not exists open_grants_of_project on ${schema}.grants (project, grant_id) where ended_at is null;
create index if not exists open_grants_of_owner on ${schema}.grants (owner_project, grant_id) where ended_at is null;
-- grants by the id that applications know
create index if not exists grants_of_pairwise on ${schema}.grants (patient, project, environment, granted_at, grant_id);
-- grants that expire next
create index if not exists grants_by_expiry on ${schema}.grants (expires_at, grant_id) where ended_at is null;
-- shared links that expire next
create index if not exists shared_links_by_expiry on ${schema}.shared_links (expires_at, link_id) where ended_at is null;
-- shared links that the end of a project ends
create index if not exists open_shared_links_of_owner on ${schema}.shared_links (owner_project, link_id)
  where ended_at is null;
-- proposals that no event has ended: all of them are looked at for those that have lapsed
create index if not exists open_proposals on ${schema}.proposals (proposal_id) where ended_at is null;
-- events of a project
create index if not exists events_of_tenant on ${schema}.events (tenant, recorded_at, event_id);
-- records of a person
create index if not exists links_of_person on ${schema}.links (issuer, subject, environment, linked_at, link_id);
-- purged grants of an application
create index if not exists erased_grants_of_application
  on ${schema}.erased_grants (application_id, granted_at, grant_id);
`;

/** Returns a statement that ends rows; if a batch ends a row several times, the first time applies. */
const ending =
  (table: string, { id, at, reason }: Readonly<Record<'id' | 'at' | 'reason', string>>) =>
  (schema: string): string =>
    `
update ${schema}.${table} t set ${at} = x.at, ${reason} = x.reason
from (select distinct on (${id}) * from json_to_recordset($1::json) as x(${id} text, reason text, at int8)
  order by ${id}, at) x
where t.${id} = x.${id} and t.${at} is null`;

/**
 * The earlier of two changes takes precedence, so that repeating a batch, or dividing it differently, produces the same rows.
 * Listed in order of execution.
 */
export const STATEMENTS = {
  grant: (schema: string) => `
insert into ${schema}.grants (grant_id, record, application_id, project, environment, sector, issuer, subject, patient,
  pairwise_subject, scopes, purpose, granted_by, granted_at, expires_at, lang, sentences, owner_project,
  owner_environment)
select grant_id, record, application_id, project, environment, sector, issuer, subject, patient, pairwise_subject,
  scopes, purpose, granted_by, at, expires_at, lang, sentences, owner_project, owner_environment
from json_to_recordset($1::json) as x(grant_id text, record uuid, application_id text, project text, environment text,
  sector text, issuer text, subject text, patient uuid, pairwise_subject text, scopes text[], purpose text,
  granted_by text, at int8, expires_at int8, lang text, sentences text[], owner_project text, owner_environment text)
on conflict (grant_id) do nothing`,

  grantEnd: ending('grants', { id: 'grant_id', at: 'ended_at', reason: 'end_reason' }),

  link: (schema: string) => `
insert into ${schema}.links
  (link_id, record, owner_project, environment, issuer, subject, relationship, via, linked_at)
select link_id, record, owner_project, environment, issuer, subject, relationship, via, at
from json_to_recordset($1::json) as x(link_id text, record uuid, owner_project text, environment text, issuer text,
  subject text, relationship text, via text, at int8)
on conflict (link_id) do nothing`,

  linkEnd: ending('links', { id: 'link_id', at: 'unlinked_at', reason: 'reason' }),

  share: (schema: string) => `
insert into ${schema}.shared_links (link_id, record, owner_project, environment, issuer, subject, label, content,
  long_term, passcode, created_at, expires_at)
select link_id, record, owner_project, environment, issuer, subject, label, content, long_term, passcode, at, expires_at
from json_to_recordset($1::json) as x(link_id text, record uuid, owner_project text, environment text, issuer text,
  subject text, label text, content text, long_term boolean, passcode boolean, at int8, expires_at int8)
on conflict (link_id) do nothing`,

  shareEnd: ending('shared_links', { id: 'link_id', at: 'ended_at', reason: 'reason' }),

  proposal: (schema: string) => `
insert into ${schema}.proposals (proposal_id, grant_id, record, application_id, operation, resource_type, resource_id,
  base_version, author_type, resource, rationale, made_at, expires_at)
select proposal_id, grant_id, record, application_id, operation, resource_type, resource_id, base_version, author_type,
  resource, rationale, at, expires_at
from json_to_recordset($1::json) as x(proposal_id text, grant_id text, record uuid, application_id text, operation text,
  resource_type text, resource_id uuid, base_version int, author_type text, resource text, rationale text, at int8,
  expires_at int8)
on conflict (proposal_id) do nothing`,

  // A proposal ends only once; repeating a batch changes nothing.
  proposalEnd: (schema: string) => `
update ${schema}.proposals p
set ended_at = x.at, status = x.status, version = x.version, resource_id = coalesce(p.resource_id, x.resource_id)
from json_to_recordset($1::json) as x(proposal_id text, status text, version int, resource_id uuid, at int8)
where p.proposal_id = x.proposal_id and p.ended_at is null`,

  erasedGrant: (schema: string) => `
insert into ${schema}.erased_grants (grant_id, application_id, granted_at, ended_at)
select grant_id, application_id, granted_at, ended_at
from json_to_recordset($1::json) as x(grant_id text, application_id text, granted_at int8, ended_at int8)
on conflict (grant_id) do nothing`,

  event: (schema: string) => `
insert into ${schema}.events (event_id, tenant, record, type, recorded_at, metadata)
select event_id, tenant, record, type, at, metadata
from json_to_recordset($1::json) as x(event_id uuid, tenant uuid, record uuid, type text, at int8, metadata text)
on conflict (event_id) do nothing`,

  // If the stream was removed while it was being read, only some of its events may have arrived, so whatever exists is
  // deleted.
  erasure: (schema: string) => `
with gone as (select record from json_to_recordset($1::json) as x(record uuid)),
  links as (delete from ${schema}.links where record in (select record from gone)),
  shared as (delete from ${schema}.shared_links where record in (select record from gone)),
  proposals as (delete from ${schema}.proposals where record in (select record from gone)),
  events as (delete from ${schema}.events where record in (select record from gone))
delete from ${schema}.grants where record in (select record from gone)`,
} as const;

export type StatementName = keyof typeof STATEMENTS;
