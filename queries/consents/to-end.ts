/** Grants that a process has to end, a page at a time. */
import type { Pool } from 'pg';
import type { Micros } from '#src/shared/time.ts';

/** A grant to be ended. */
export interface OpenGrant {
  readonly id: string;
  readonly record: string;
  readonly application: string;
  readonly issuer: string;
  readonly subject: string;
}

/** What ends grants, and the grants of it that no event has ended. */
export interface GrantsToEnd {
  /** Reads grants whose time was over at a moment, those that expired first first. */
  readonly expired: (at: Micros, limit: number) => Promise<readonly OpenGrant[]>;
  /** Reads grants of an application. @param after the id of the last one read before; empty: none */
  readonly ofApplication: (
    application: string,
    after: string,
    limit: number,
  ) => Promise<readonly OpenGrant[]>;
  /** Reads grants of a project's applications. */
  readonly ofProject: (project: string, after: string, limit: number) => Promise<readonly OpenGrant[]>;
  /** Reads grants on a project's records. */
  readonly onRecordsOf: (project: string, after: string, limit: number) => Promise<readonly OpenGrant[]>;
}

const OPEN = `select g.grant_id as id, g.record, g.application_id as application, g.issuer, g.subject
  from consents.grants g where g.ended_at is null`;

/** Opens the questions. */
export function openGrantsToEnd(pool: Pool): GrantsToEnd {
  const by =
    (name: string, condition: string) =>
    async (of: string, after: string, limit: number): Promise<readonly OpenGrant[]> => {
      const text = `${OPEN} and ${condition} = $1 and g.grant_id > $2 order by g.grant_id limit $3`;
      return (
        await pool.query<OpenGrant>({ name: `grants-to-end-${name}`, text, values: [of, after, limit] })
      ).rows;
    };
  return {
    async expired(at, limit) {
      // Index: consents.grants_by_expiry.
      const text = `${OPEN} and g.expires_at <= $1 order by g.expires_at, g.grant_id limit $2`;
      return (await pool.query<OpenGrant>({ name: 'grants-expired', text, values: [at, limit] })).rows;
    },
    // Index: consents.open_grants_of_application.
    ofApplication: by('application', 'g.application_id'),
    // Index: consents.open_grants_of_project.
    ofProject: by('project', 'g.project'),
    // Index: consents.open_grants_of_owner.
    onRecordsOf: by('owner', 'g.owner_project'),
  };
}
