/** Tables for webhook deliveries, in schema `operations`. Deliveries aren't events, and rebuilds don't touch them. */

/** The DDL of a separate migration. */
export const WEBHOOKS_SQL = `
-- What seals the signing secrets of endpoints.
CREATE TABLE operations.webhook_key (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  key bytea NOT NULL
);
-- Who is subscribed, as far as the reaction has followed the log: it changes in the order of events.
CREATE TABLE operations.webhook_subscriber (
  endpoint_id text PRIMARY KEY,
  project text NOT NULL,
  environment text NOT NULL,
  events text[] NOT NULL
);
CREATE INDEX webhook_subscriber_of_project ON operations.webhook_subscriber (project);
CREATE TABLE operations.webhook_delivery (
  id text PRIMARY KEY,                 -- whd_…, derived: the same event is delivered once to an endpoint
  seq bigint GENERATED ALWAYS AS IDENTITY,
  endpoint_id text NOT NULL,
  event_id text NOT NULL,
  event_type text NOT NULL,
  record uuid,                         -- the patient's, for purges
  payload text NOT NULL,               -- the exact body
  replay_id text,                      -- null but for what a replay sends again
  status text NOT NULL DEFAULT 'pending',
  attempts int NOT NULL DEFAULT 0,
  claims int NOT NULL DEFAULT 0,       -- who claimed it last may say how it ended
  due_at timestamptz,                  -- of the next attempt; while one runs, when it is taken for lost; null at the end
  first_attempt_at timestamptz,
  last_status_code int,
  last_error text,                     -- with the first 4 KB of the answer
  created_at timestamptz NOT NULL DEFAULT now(),
  delivered_at timestamptz
);
-- what is due of an endpoint, oldest first
CREATE INDEX webhook_delivery_due ON operations.webhook_delivery (endpoint_id, due_at, seq) WHERE due_at IS NOT NULL;
-- an endpoint's log, newest first
CREATE INDEX webhook_delivery_log ON operations.webhook_delivery (endpoint_id, seq);
CREATE INDEX webhook_delivery_record ON operations.webhook_delivery (record) WHERE record IS NOT NULL;
CREATE INDEX webhook_delivery_age ON operations.webhook_delivery USING brin (created_at);
-- How the last attempts went, by endpoint.
CREATE TABLE operations.webhook_health (
  endpoint_id text PRIMARY KEY,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  failure_streak int NOT NULL DEFAULT 0,
  probing boolean NOT NULL DEFAULT false,  -- its last attempt was not answered in time: one at a time
  probe_until timestamptz                  -- until when the one that runs has the right to
);
-- what a replay has queued and not ended, in its order
CREATE INDEX webhook_delivery_replay ON operations.webhook_delivery (replay_id, seq) WHERE replay_id IS NOT NULL;
-- The newest replay of each endpoint.
CREATE TABLE operations.webhook_replay (
  endpoint_id text PRIMARY KEY,
  id text NOT NULL,
  from_at int8 NOT NULL,               -- microseconds since 1970, inclusive, as to_at
  to_at int8 NOT NULL,
  types text[] NOT NULL,
  head_position text NOT NULL,         -- of the log when it began: it goes no further
  position text NOT NULL,              -- everything up to here is queued
  status text NOT NULL DEFAULT 'running',
  begun_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz
);`;

/** The DDL of a separate migration. */
export const WEBHOOK_FORGOTTEN_SQL = `
-- Its patient is purged: what is still to be told is told, and then deleted.
ALTER TABLE operations.webhook_delivery ADD COLUMN forgotten boolean NOT NULL DEFAULT false;
CREATE INDEX webhook_delivery_forgotten ON operations.webhook_delivery (id) WHERE forgotten;`;

/** The DDL of a separate migration. */
export const WEBHOOK_GRANTS_SQL = `
-- Grants on records, as far as the reaction has followed the log; ended ones stay, because replays ask for them.
CREATE TABLE operations.webhook_grant (
  grant_id text PRIMARY KEY,
  record uuid NOT NULL,                -- the real id of the Patient, for purges
  project text,                        -- of the application; this and the next six are null if only the end is known
  environment text,
  sector text,
  patient uuid,                        -- the pairwise id of the Patient
  scopes text[],
  granted_at int8,                     -- microseconds since 1970, as expires_at and ended_at
  expires_at int8,
  ended_at int8
);
CREATE INDEX webhook_grant_of_record ON operations.webhook_grant (record);
-- Whether grants that are older than the table are in it.
CREATE TABLE operations.webhook_grants_begun (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  taken_over boolean NOT NULL DEFAULT false
);
INSERT INTO operations.webhook_grants_begun DEFAULT VALUES;`;
