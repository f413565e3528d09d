/** The statements of the read model `projects`. Each takes any number of rows as a single JSON text. */

/**
 * Statements by name; a batch's `rows` are in event order. Each row has its event's time, and the latest time wins, so that
 * batches that are repeated or divided differently produce the same rows. Listed in order of execution.
 */
export const STATEMENTS = {
  organization: (schema: string) => `
insert into ${schema}.organization (id, name, created_at)
select id, name, at from json_to_recordset($1::json) as x(id text, name text, at int8)
on conflict (id) do nothing`,

  member: (schema: string) => `
insert into ${schema}.member as m (organization, issuer, subject, email, role, changed_at)
select distinct on (organization, issuer, subject) organization, issuer, subject, email, role, at
from json_to_recordset($1::json)
  as x(organization text, issuer text, subject text, email text, role text, at int8)
order by organization, issuer, subject, at desc
on conflict (organization, issuer, subject) do update
set email = excluded.email, role = excluded.role, changed_at = excluded.changed_at
where m.changed_at < excluded.changed_at`,

  invitation: (schema: string) => `
insert into ${schema}.member_invitation (id, organization, email, role, by_issuer, by_subject, created_at, expires_at)
select invitation_id, organization, email, role, issuer, subject, at, until
from json_to_recordset($1::json) as x(invitation_id text, organization text, email text, role text, issuer text,
  subject text, until int8, at int8)
on conflict (id) do nothing`,

  invitationEnd: (schema: string) => `
update ${schema}.member_invitation i set ended_at = x.at, end_reason = x.reason
from json_to_recordset($1::json) as x(invitation_id text, reason text, at int8)
where i.id = x.invitation_id and i.ended_at is null`,

  sso: (schema: string) => `
update ${schema}.organization o
set sso_issuer = x.issuer, sso_client_id = x.client_id, sso_domains = x.domains, sso_at = x.at
from (select distinct on (id) * from json_to_recordset($1::json)
  as x(id text, issuer text, client_id text, domains text[], at int8) order by id, at desc) x
where o.id = x.id and (o.sso_at is null or o.sso_at < x.at)`,

  confirmation: (schema: string) => `
update ${schema}.organization o set confirmed_domain = x.domain, confirmed_at = x.at
from (select distinct on (id) * from json_to_recordset($1::json)
  as x(id text, domain text, at int8) order by id, at desc) x
where o.id = x.id and (o.confirmed_at is null or o.confirmed_at < x.at)`,

  // Looks at all settings in a batch: even if the last settings include the domain again, the confirmation has lapsed.
  confirmationEnd: (schema: string) => `
update ${schema}.organization o set confirmed_domain = null
from json_to_recordset($1::json) as x(id text, domains text[], at int8)
where o.id = x.id and o.confirmed_at < x.at and not o.confirmed_domain = any(x.domains)`,

  project: (schema: string) => `
insert into ${schema}.project (id, organization, name, created_at)
select id, organization, name, at
from json_to_recordset($1::json) as x(id text, organization text, name text, at int8)
on conflict (id) do nothing`,

  productionWord: (schema: string) => `
update ${schema}.project p set production = x.word, production_at = x.at
from (select distinct on (id) * from json_to_recordset($1::json)
  as x(id text, word text, at int8) order by id, at desc) x
where p.id = x.id and (p.production_at is null or p.production_at < x.at)`,

  productionRequest: (schema: string) => `
insert into ${schema}.production_request (id, project, use, issuer, subject, created_at)
select request_id, project, use, issuer, subject, at
from json_to_recordset($1::json) as x(request_id text, project text, use text, issuer text, subject text, at int8)
on conflict (id) do nothing`,

  productionRefusal: (schema: string) => `
update ${schema}.production_request r set status = 'refused', reason = x.reason, answered_at = x.at
from json_to_recordset($1::json) as x(request_id text, reason text, at int8)
where r.id = x.request_id and r.answered_at is null`,

  // Runs after refusals: allowing production answers the requests that are still pending. A batch may contain several
  // allowances for the same project.
  productionAllowance: (schema: string) => `
update ${schema}.production_request r set status = 'allowed', answered_at = x.at
from (select r.id, min(x.at) as at from ${schema}.production_request r
  join json_to_recordset($1::json) as x(id text, at int8) on r.project = x.id and r.created_at < x.at
  where r.answered_at is null group by r.id) x
where r.id = x.id`,

  filling: (schema: string) => `
update ${schema}.project p set filling = x.reset_id, filling_by = x.asker, filling_at = x.at
from (select distinct on (id) * from json_to_recordset($1::json)
  as x(id text, reset_id text, asker text, at int8) order by id, at desc) x
where p.id = x.id and (p.filling_at is null or p.filling_at < x.at)`,

  filled: (schema: string) => `
update ${schema}.project p set filling = null
from json_to_recordset($1::json) as x(id text, reset_id text, at int8)
where p.id = x.id and p.filling = x.reset_id`,

  key: (schema: string) => `
insert into ${schema}.api_key (sha256, key_id, project, environment, name, scopes, last4, expires_at, created_at)
select sha256, key_id, project, environment, name, scopes, last4, until, at
from json_to_recordset($1::json) as x(sha256 text, key_id text, project text, environment text, name text,
  scopes text[], last4 text, until int8, at int8)
on conflict (sha256) do nothing`,

  revocation: (schema: string) => `
update ${schema}.api_key k set revoked_at = x.at
from json_to_recordset($1::json) as x(key_id text, at int8)
where k.key_id = x.key_id and k.revoked_at is null`,

  application: (schema: string) => `
insert into ${schema}.application as a (id, project, client_id, name, environment, kind, redirect_uris, scopes, grant_types,
  privacy_url, secret_sha256, jwks, jwks_uri, sector, trusted, created_at, deleted_at,
  post_logout_redirect_uris)
select id, project, client_id, name, environment, kind, redirect_uris, scopes, grant_types, privacy_url, secret_sha256,
  jwks, jwks_uri, sector, false, at,
  (select p.deleted_at from ${schema}.project p where p.id = x.project), coalesce(post_logout_redirect_uris, '{}')
from (select distinct on (id) * from json_to_recordset($1::json) as x(id text, project text, client_id text, name text,
  environment text, kind text, redirect_uris text[], scopes text[], grant_types text[], privacy_url text,
  secret_sha256 text, jwks text, jwks_uri text, sector text, post_logout_redirect_uris text[], at int8)
  order by id, at desc) x
on conflict (id) do update set name = excluded.name, environment = excluded.environment,
  redirect_uris = excluded.redirect_uris, scopes = excluded.scopes, grant_types = excluded.grant_types,
  privacy_url = excluded.privacy_url, sector = excluded.sector, created_at = excluded.created_at,
  deleted_at = excluded.deleted_at
where a.created_at < excluded.created_at`,

  blockedHost: (schema: string) => `
insert into ${schema}.blocked_host as b (host, blocked, changed_at)
select distinct on (host) host, blocked, at
from json_to_recordset($1::json) as x(host text, blocked boolean, at int8) order by host, at desc
on conflict (host) do update set blocked = excluded.blocked, changed_at = excluded.changed_at
where b.changed_at < excluded.changed_at`,

  secret: (schema: string) => `
update ${schema}.application a
set secret_sha256 = x.secret_sha256, previous_sha256 = x.previous, previous_until = x.until, secret_at = x.at
from (select distinct on (id) * from json_to_recordset($1::json)
  as x(id text, secret_sha256 text, previous text, until int8, at int8) order by id, at desc) x
where a.id = x.id and (a.secret_at is null or a.secret_at < x.at)`,

  // Runs after `secret`: an application that signs with keys has no secret.
  applicationChange: (schema: string) => `
update ${schema}.application a
set redirect_uris = x.redirect_uris, post_logout_redirect_uris = x.post_logout_redirect_uris, scopes = x.scopes,
  privacy_url = x.privacy_url, jwks = x.jwks, jwks_uri = x.jwks_uri, changed_at = x.at,
  secret_sha256 = case when x.jwks is null and x.jwks_uri is null then a.secret_sha256 end,
  previous_sha256 = case when x.jwks is null and x.jwks_uri is null then a.previous_sha256 end,
  previous_until = case when x.jwks is null and x.jwks_uri is null then a.previous_until end
from (select distinct on (id) * from json_to_recordset($1::json)
  as x(id text, redirect_uris text[], post_logout_redirect_uris text[], scopes text[], privacy_url text, jwks text,
    jwks_uri text, at int8) order by id, at desc) x
where a.id = x.id and (a.changed_at is null or a.changed_at < x.at)`,

  branding: (schema: string) => `
update ${schema}.application a
set logo_uri = x.logo_uri, client_uri = x.client_uri, tos_uri = x.tos_uri, color = x.color,
  logo_sha256 = x.logo_sha256, logo_type = x.logo_type, logo_size = x.logo_size, branded_at = x.at
from (select distinct on (id) * from json_to_recordset($1::json)
  as x(id text, logo_uri text, client_uri text, tos_uri text, color text, logo_sha256 text, logo_type text,
    logo_size int4, at int8) order by id, at desc) x
where a.id = x.id and (a.branded_at is null or a.branded_at < x.at)`,

  trust: (schema: string) => `
update ${schema}.application a set trusted = x.trusted, trusted_by_others = x.trusted_by_others, trusted_at = x.at
from (select distinct on (id) * from json_to_recordset($1::json)
  as x(id text, trusted boolean, trusted_by_others boolean, at int8) order by id, at desc) x
where a.id = x.id and (a.trusted_at is null or a.trusted_at < x.at)`,

  // A guest can be registered again later, even in the same batch.
  applicationEnd: (schema: string) => `
update ${schema}.application a set deleted_at = x.at
from (select distinct on (id) * from json_to_recordset($1::json) as x(id text, at int8) order by id, at desc) x
where a.id = x.id and a.created_at < x.at and (a.deleted_at is null or a.deleted_at > x.at)`,

  projectEnd: (schema: string) => `
update ${schema}.project p set deleted_at = x.at
from json_to_recordset($1::json) as x(id text, at int8)
where p.id = x.id and p.deleted_at is null`,

  // Every request looks up a key only by the key's hash, so the end of a project is copied to its keys.
  keysEnd: (schema: string) => `
update ${schema}.api_key k set revoked_at = x.at
from json_to_recordset($1::json) as x(id text, at int8)
where k.project = x.id and k.revoked_at is null`,

  // The end of an application and the end of its project come from different streams: the earlier end counts, in whatever
  // order they arrive.
  applicationsEnd: (schema: string) => `
update ${schema}.application a set deleted_at = x.at
from json_to_recordset($1::json) as x(id text, at int8)
where a.project = x.id and (a.deleted_at is null or a.deleted_at > x.at)`,
} as const;

export type StatementName = keyof typeof STATEMENTS;
