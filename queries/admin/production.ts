/** Reads projects' requests for production access, and the data on which the answer depends. */
import type { Pool } from 'pg';
import type { Micros } from '#src/shared/time/time.ts';
import { type Page, type PageAsked, readPage } from './page.ts';

/** A request; times are microseconds since 1970. */
export interface ProductionRequestRow {
  readonly id: string;
  readonly project: string;
  readonly use: string;
  readonly status: 'pending' | 'allowed' | 'refused';
  /** The operator's reason for refusing the request. */
  readonly reason: string | null;
  readonly created_at: Micros;
  readonly answered_at: Micros | null;
}

/** A request as operators see it. */
export interface NamedProductionRequest extends ProductionRequestRow {
  readonly project_name: string;
  readonly organization: string;
  readonly organization_name: string;
  /**
   * The person who made the request: the person's e-mail address if it is known from the organization's members, otherwise the
   * subject.
   */
  readonly person: string | null;
  /** True if the project may create production keys and applications when these require a request. */
  readonly production: boolean;
}

/** Queries about requests. */
export interface ProductionQueries {
  readonly productionRequests: (project: string, asked: PageAsked) => Promise<Page<ProductionRequestRow>>;
  /** Returns true if a project may create things in production when that requires a request. */
  readonly hasProduction: (project: string) => Promise<boolean>;
}

const REQUEST = 'r.id, r.project, r.use, r.status, r.reason, r.created_at, r.answered_at';
/**
 * The condition under which a project `p` may create production keys and applications, following the rule in
 * `commands/project/production.ts`. Indexes: api_key_of_project, application_of_project.
 */
const HAS_PRODUCTION = `(p.production is not distinct from 'allowed'
  or exists (select from projects.api_key k
    where k.project = p.id and k.environment = 'production' and k.created_at > coalesce(p.production_at, 0))
  or exists (select from projects.application a
    where a.project = p.id and a.environment = 'production' and a.created_at > coalesce(p.production_at, 0)))`;

/** Creates the queries. */
export function openProduction(pool: Pool): ProductionQueries {
  return {
    productionRequests: (project, asked) =>
      readPage(
        pool,
        {
          name: 'production-requests',
          rows: `select ${REQUEST} from projects.production_request r where r.project = $1`,
          values: [project],
        },
        asked,
      ),
    async hasProduction(project) {
      const { rows } = await pool.query<{ production: boolean }>({
        name: 'has-production',
        text: `select ${HAS_PRODUCTION} as production from projects.project p where p.id = $1`,
        values: [project],
      });
      return rows[0]?.production ?? false;
    },
  };
}

/**
 * Returns requests of open projects: first pending requests, oldest first, then answered requests, newest first.
 * @param project if given, returns only this project's requests
 */
export async function allProductionRequests(
  pool: Pool,
  project?: string,
): Promise<readonly NamedProductionRequest[]> {
  const { rows } = await pool.query<NamedProductionRequest>(
    `select ${REQUEST}, p.name as project_name, p.organization, o.name as organization_name,
       coalesce(m.email, r.subject) as person, ${HAS_PRODUCTION} as production
     from projects.production_request r
     join projects.project p on p.id = r.project and p.deleted_at is null
     join projects.organization o on o.id = p.organization
     left join projects.member m on (m.organization, m.issuer, m.subject) = (p.organization, r.issuer, r.subject)
     where $1::text is null or r.project = $1
     order by r.answered_at is not null, case when r.answered_at is null then r.created_at end, r.answered_at desc, r.id`,
    [project ?? null],
  );
  return rows;
}

/**
 * Returns when a project's newest production application was registered, including deleted applications. Index:
 * application_of_project.
 */
export async function newestProductionApplication(pool: Pool, project: string): Promise<Micros | undefined> {
  const { rows } = await pool.query<{ created_at: Micros }>({
    name: 'newest-production-application',
    text: `select created_at from projects.application where project = $1 and environment = 'production'
      order by created_at desc limit 1`,
    values: [project],
  });
  return rows[0]?.created_at;
}
