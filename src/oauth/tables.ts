/**
 * Tables of authorization codes and tokens. They contain only SHA-256 hashes, and don't name a person. The codes and tokens
 * for one consent form a chain. One row is authoritative for the whole chain, so each change is a compare-and-set on that row.
 */

/** The DDL of a separate migration. */
export const OAUTH_TOKENS_SQL = `
CREATE TABLE operations.oauth_chain (
  id uuid PRIMARY KEY,
  grant_id text NOT NULL,
  application_id text NOT NULL,
  project text NOT NULL,               -- the application's
  environment text NOT NULL,
  record uuid NOT NULL,
  scope text NOT NULL,                 -- what was granted
  resource text[] NOT NULL,            -- RFC 8707; empty: the whole service
  auth_time timestamptz,               -- when the person signed in
  code_uses int4 NOT NULL DEFAULT 0,   -- stops at 2
  refresh_sha256 bytea,                -- the one refresh token that works
  expires_at timestamptz NOT NULL,     -- of the code or token that lasts longest
  revoked_at timestamptz
);
CREATE INDEX oauth_chain_of_record ON operations.oauth_chain (record);
CREATE INDEX oauth_chain_expired ON operations.oauth_chain (expires_at);
CREATE TABLE operations.oauth_code (
  sha256 bytea PRIMARY KEY,
  chain uuid NOT NULL REFERENCES operations.oauth_chain ON DELETE CASCADE,
  redirect_uri text NOT NULL,
  challenge text NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX oauth_code_of_chain ON operations.oauth_code (chain);
CREATE TABLE operations.oauth_token (
  sha256 bytea PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('access', 'refresh')),
  chain uuid REFERENCES operations.oauth_chain ON DELETE CASCADE,  -- null: client credentials
  application_id text NOT NULL,
  project text NOT NULL,
  environment text NOT NULL,
  scope text NOT NULL,
  resource text[] NOT NULL,
  issued_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz               -- only of an access token; the chain has its own
);
CREATE INDEX oauth_token_of_chain ON operations.oauth_token (chain);
CREATE INDEX oauth_token_expired ON operations.oauth_token (expires_at);`;

/** The DDL of a later migration. */
export const OAUTH_NONCE_SQL = `
ALTER TABLE operations.oauth_code ADD COLUMN nonce text;  -- of the authorization request, for the ID token`;

/**
 * The DDL of a separate migration: members' tokens, for the dashboard. They name the person, and are deleted when they expire.
 */
export const MEMBER_TOKENS_SQL = `
CREATE TABLE operations.member_token (
  sha256 bytea PRIMARY KEY,
  issuer text NOT NULL,
  subject text NOT NULL,
  domain text NOT NULL,                -- of the verified address; empty: none
  sso_client text,                     -- the client id by which the organization trusted the ID token; null: the installation did
  project text NOT NULL,
  environment text NOT NULL,
  scopes text[] NOT NULL,              -- read, write
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz
);
CREATE INDEX member_token_expired ON operations.member_token (expires_at);`;
