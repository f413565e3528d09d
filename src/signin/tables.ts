/**
 * People, their sessions, and sign-ins that have begun. If PostgreSQL's data is lost, people just sign in again. Cookies and
 * states are stored only as SHA-256.
 */

/** The DDL of a separate migration. */
export const SIGN_IN_SQL = `
CREATE TABLE operations.person (
  issuer text NOT NULL,
  subject text NOT NULL,
  name text,
  email text,
  email_verified boolean NOT NULL,
  signed_in_at timestamptz NOT NULL,
  session_ended_at timestamptz NOT NULL, -- of the last session that ended, or the last sign-in
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX person_ended ON operations.person (session_ended_at);
CREATE TABLE operations.session (
  id_sha256 bytea PRIMARY KEY,
  issuer text NOT NULL,
  subject text NOT NULL,
  auth_time timestamptz,               -- null: the issuer doesn't say
  started_at timestamptz NOT NULL,
  used_at timestamptz NOT NULL,        -- to the minute
  FOREIGN KEY (issuer, subject) REFERENCES operations.person (issuer, subject) ON DELETE CASCADE
);
CREATE INDEX session_used ON operations.session (used_at);
CREATE INDEX session_of ON operations.session (issuer, subject);
CREATE TABLE operations.sign_in (
  state_sha256 bytea PRIMARY KEY,
  browser_sha256 bytea NOT NULL,       -- of the cookie in the browser that began it
  issuer text NOT NULL,
  return_to text NOT NULL,
  lang text NOT NULL,
  max_age integer,                     -- seconds before begun_at; null: not asked
  begun_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX sign_in_expires ON operations.sign_in (expires_at);`;

/**
 * The DDL of a separate migration: adds the client at an issuer that only organizations trust, by their SSO settings. Null for
 * an issuer of the installation.
 */
export const SIGN_IN_SSO_SQL = `
ALTER TABLE operations.session ADD COLUMN sso_client text;
ALTER TABLE operations.sign_in ADD COLUMN sso_client text;`;

/**
 * The DDL of a separate migration: adds the `prompt` of the request to the issuer, so that another try sends the same request.
 */
export const SIGN_IN_PROMPT_SQL = 'ALTER TABLE operations.sign_in ADD COLUMN prompt text;';
