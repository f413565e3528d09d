/**
 * Access requests (OpenID CIBA Core 1.0, poll mode). Until a person approves a request, it is a row instead of an event,
 * because it may never be seen by anyone. Rows are deleted from PostgreSQL after a day, and when a record that they name is
 * purged.
 */

/** The DDL of a separate migration. */
export const ACCESS_REQUESTS_SQL = `
CREATE TABLE operations.access_request (
  id text PRIMARY KEY,
  sha256 bytea NOT NULL UNIQUE,        -- of auth_req_id
  turn bytea NOT NULL,                 -- SHA-256 of application and hint
  application_id text NOT NULL,
  client_id text NOT NULL,
  project text NOT NULL,               -- the application's, as the next two
  environment text NOT NULL,
  sector text NOT NULL,
  hint_kind text NOT NULL CHECK (hint_kind IN ('email', 'patient', 'subject')),
  hint text NOT NULL,                  -- address in lower case, or a pairwise id
  scope text NOT NULL,
  resource text[] NOT NULL,            -- RFC 8707; empty: the whole service
  binding_message text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  pace int4 NOT NULL DEFAULT 5,        -- seconds between two polls, at least
  polled_at timestamptz,
  outcome text CHECK (outcome IN ('approved', 'denied')),
  decided_at timestamptz,
  issuer text,                         -- who decided
  subject text,
  record uuid,                         -- of an approval, as all that follows
  granted_by text,
  days int4,
  granted_scope text,
  lang text,
  sentences text[],
  grant_id text,                       -- null until the grant is there
  used_at timestamptz                  -- when tokens were issued
);
CREATE INDEX access_request_of_hint ON operations.access_request (hint, hint_kind);
CREATE INDEX access_request_of_record ON operations.access_request (record);
CREATE INDEX access_request_of_person ON operations.access_request (issuer, subject);
CREATE INDEX access_request_created ON operations.access_request (created_at);
CREATE TABLE operations.access_request_turn (
  sha256 bytea PRIMARY KEY,            -- of application and hint
  asked timestamptz[] NOT NULL,        -- requests of the last hour
  newest text NOT NULL                 -- id of the request that may be pending
);
CREATE VIEW operations.access_request_now AS
  SELECT r.*,
         CASE WHEN r.outcome IS NOT NULL THEN r.outcome
              WHEN r.expires_at <= now() OR t.newest IS DISTINCT FROM r.id THEN 'expired' ELSE 'pending' END AS status
    FROM operations.access_request r LEFT JOIN operations.access_request_turn t ON t.sha256 = r.turn;
CREATE TABLE operations.muted_application (
  issuer text NOT NULL,
  subject text NOT NULL,
  application_id text NOT NULL,
  muted_at timestamptz NOT NULL,
  unmuted_at timestamptz,              -- null while it is muted
  PRIMARY KEY (issuer, subject, application_id, muted_at)
);
CREATE UNIQUE INDEX muted_application_now ON operations.muted_application (issuer, subject, application_id)
  WHERE unmuted_at IS NULL;`;

// A person is forgotten 30 days after their last link and their last session have ended (docs/spec/decisions.md, section 9);
// their mutes are then deleted too. Index: consents.links_of_person.
const FORGET_MUTED = `
DELETE FROM operations.muted_application m
 WHERE m.unmuted_at < now() - interval '1 day'
    OR (m.muted_at < now() - interval '30 days'
   AND NOT EXISTS (SELECT FROM operations.person p WHERE p.issuer = m.issuer AND p.subject = m.subject)
   AND NOT EXISTS (
     SELECT FROM consents.links l
      WHERE l.issuer = m.issuer AND l.subject = m.subject
        AND (l.unlinked_at IS NULL
          OR l.unlinked_at > (extract(epoch FROM now() - interval '30 days') * 1000000)::int8)))`;

type Client = { readonly query: (text: string, values?: unknown[]) => Promise<unknown> };

/** Deletes rows that are no longer needed, according to the database's clock. */
export async function sweepAccessRequests(client: Client): Promise<void> {
  await client.query("DELETE FROM operations.access_request WHERE created_at < now() - interval '1 day'");
  await client.query(
    "DELETE FROM operations.access_request_turn WHERE now() - interval '1 hour' > ALL (asked)",
  );
  await client.query(FORGET_MUTED);
}

/** Deletes the requests that name a record, in a hint or an approval, when the record is purged. */
export async function forgetAccessRequests(client: Client, record: string): Promise<void> {
  // Index: consents.grants_of_record. The ids that applications know are those of its grants.
  await client.query(
    `DELETE FROM operations.access_request r
      WHERE r.record = $1::uuid
         OR (r.hint_kind = 'patient' AND EXISTS (
              SELECT FROM consents.grants g WHERE g.record = $1::uuid AND g.patient::text = r.hint
                 AND g.project = r.project AND g.environment = r.environment AND g.sector = r.sector))`,
    [record],
  );
}
