/** Reads grants that the service has to end, one page at a time. */
import type { Pool } from 'pg';
import type { PersonId } from '#src/shared/access/identity.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** A grant that hasn't been ended by an event. */
export interface OpenGrant {
  readonly grantId: string;
  /** The Patient's real id. */
  readonly record: string;
  readonly applicationId: string;
  readonly person: PersonId;
}

/** Queries about grants to be ended. */
export interface GrantsToEnd {
  /**
   * Reads grants that had expired by a given time, in order of expiry.
   * @param except ids to leave out
   */
  readonly expired: (at: Micros, except: readonly string[]) => Promise<readonly OpenGrant[]>;
  /**
   * Reads an application's grants, in order of id.
   * @param after the previous page's last id; empty for the first page
   */
  readonly ofApplication: (application: string, after: string) => Promise<readonly OpenGrant[]>;
  /** Reads grants of a project's applications. */
  readonly ofProject: (project: string, after: string) => Promise<readonly OpenGrant[]>;
  /** Reads grants on a project's records. */
  readonly onRecordsOf: (project: string, after: string) => Promise<readonly OpenGrant[]>;
  /**
   * Reads a grant if its application, the application's project or the record's project was deleted, and returns which of
   * these was deleted.
   */
  readonly readEnd: (
    id: string,
  ) => Promise<
    { readonly grant: OpenGrant; readonly reason: 'application_deleted' | 'platform' } | undefined
  >;
}

/** Number of grants per page; the grants on a page are ended at the same time. */
const PAGE = 20;

interface Row {
  readonly id: string;
  readonly record: string;
  readonly application: string;
  readonly issuer: string;
  readonly subject: string;
}

const COLUMNS = 'g.grant_id as id, g.record, g.application_id as application, g.issuer, g.subject';

const END = `
select ${COLUMNS},
  case when a.deleted_at is not null or p.deleted_at is not null then 'application_deleted' else 'platform' end as reason
from consents.grants g
left join projects.application a on a.id = g.application_id
left join projects.project p on p.id = g.project
left join projects.project o on o.id = g.owner_project
where g.grant_id = $1 and g.ended_at is null and coalesce(a.deleted_at, p.deleted_at, o.deleted_at) is not null`;

/** Creates the queries. */
export function openGrantsToEnd(pool: Pool): GrantsToEnd {
  const page = (name: string, condition: string) => {
    const text = `select ${COLUMNS} from consents.grants g
      where g.ended_at is null and ${condition} = $1 and g.grant_id > $2 order by g.grant_id limit ${PAGE}`;
    return async (of: string, after: string): Promise<readonly OpenGrant[]> => {
      const { rows } = await pool.query<Row>({ name: `grants-to-end-${name}`, text, values: [of, after] });
      return rows.map(makeGrant);
    };
  };
  return {
    async expired(at, except) {
      // Index: consents.grants_by_expiry.
      const text = `select ${COLUMNS} from consents.grants g
        where g.ended_at is null and g.expires_at <= $1 and g.grant_id <> all($2::text[])
        order by g.expires_at, g.grant_id limit ${PAGE}`;
      const { rows } = await pool.query<Row>({ name: 'grants-expired', text, values: [at, except] });
      return rows.map(makeGrant);
    },
    // Index: consents.open_grants_of_application.
    ofApplication: page('of-application', 'g.application_id'),
    // Index: consents.open_grants_of_project.
    ofProject: page('of-project', 'g.project'),
    // Index: consents.open_grants_of_owner.
    onRecordsOf: page('of-owner', 'g.owner_project'),
    async readEnd(id) {
      // Index: primary keys.
      const { rows } = await pool.query<Row & { readonly reason: 'application_deleted' | 'platform' }>({
        name: 'end-of-grant',
        text: END,
        values: [id],
      });
      const [row] = rows;
      return row === undefined ? undefined : { grant: makeGrant(row), reason: row.reason };
    },
  };
}

function makeGrant({ id, record, application, issuer, subject }: Row): OpenGrant {
  return { grantId: id, record, applicationId: application, person: { issuer, subject } };
}
