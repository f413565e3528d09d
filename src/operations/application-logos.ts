/**
 * Stores the bytes of applications' logos. The bytes aren't in events: like events about documents, `ApplicationBranded`
 * contains only their SHA-256.
 */
import type { Pool } from 'pg';

/** Migration that creates the table, in schema `operations`. */
export const APPLICATION_LOGOS_SQL = `
CREATE TABLE operations.application_logo (
  application text NOT NULL,
  sha256 text NOT NULL,                -- hex
  content_type text NOT NULL,
  content bytea NOT NULL,
  kept_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (application, sha256)
);
`;

export interface LogoBytes {
  readonly contentType: string;
  readonly content: Buffer;
}

/** Keeps them. */
export class ApplicationLogos {
  constructor(private readonly pool: Pool) {}

  /**
   * Stores a logo before the event that makes it visible, and removes the application's replaced logos.
   * @param sha256 of the content, in hex
   * @param shown the hash of the logo that is currently shown
   */
  async keep(application: string, sha256: string, logo: LogoBytes, shown: string | null): Promise<void> {
    await this.pool.query({
      name: 'keep-application-logo',
      // Replaced logos are kept for an hour, because another upload may have stored its bytes but not yet its event.
      text: `
        with replaced as (
          delete from operations.application_logo
          where application = $1 and sha256 <> $2 and sha256 is distinct from $5
            and kept_at < now() - interval '1 hour')
        insert into operations.application_logo (application, sha256, content_type, content)
        values ($1, $2, $3, $4)
        on conflict (application, sha256) do update set kept_at = now()`,
      values: [application, sha256, logo.contentType, logo.content, shown],
    });
  }

  /** Returns the logo that an application currently shows; undefined if its hash is different or the logo was deleted. */
  async find(application: string, sha256: string): Promise<LogoBytes | undefined> {
    const { rows } = await this.pool.query<{ content_type: string; content: Buffer }>({
      name: 'find-application-logo',
      text: `
        select l.content_type, l.content
        from operations.application_logo l
        join projects.application a on a.id = l.application and a.logo_sha256 = l.sha256 and a.deleted_at is null
        where l.application = $1 and l.sha256 = $2`,
      values: [application, sha256],
    });
    const [row] = rows;
    return row === undefined ? undefined : { contentType: row.content_type, content: row.content };
  }
}
