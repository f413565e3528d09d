/** Operators' queries on the installation's own tables: jobs, parked events, instances, trusted applications. */
import type { Pool } from 'pg';
import type { Environment } from '#src/shared/access/caller.ts';
import { JOB_COLUMNS, type Job } from '#src/shared/job.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { type FailedRequests, openFailedRequests } from './failed-requests.ts';
import { type Page, type PageAsked, readPage } from './page.ts';
import { allProductionRequests, type NamedProductionRequest } from './production.ts';
import { readSizes, type Sizes } from './sizes.ts';
import { readSlowRoutes, type SlowRoutes } from './slow-requests.ts';

/** An event that a process couldn't handle. */
export interface ParkedRow {
  /** The process and the event: `webhooks:0190…`. */
  readonly id: string;
  readonly process: string;
  readonly event: string;
  readonly stream: string;
  readonly revision: number;
  /** The error of the last attempt, without data. */
  readonly error: string;
  readonly attempts: number;
  readonly created_at: Micros;
  readonly retry_at: Micros;
}

/** An instance of the service; times are microseconds since 1970. */
export interface InstanceRow {
  readonly id: string;
  readonly version: string;
  readonly host: string;
  readonly pid: number;
  /** Names of the processes and read models that the instance runs. */
  readonly runs: readonly string[];
  readonly started_at: Micros;
  readonly seen_at: Micros;
  readonly alive: boolean;
}

/** An application that the operator trusts. */
export interface TrustedRow {
  readonly id: string;
  readonly name: string;
  readonly client_id: string;
  readonly environment: Environment;
  readonly project: string;
  readonly project_name: string;
  readonly organization: string;
  readonly organization_name: string;
  readonly created_at: Micros;
  readonly trusted_at: Micros | null;
}

/** The names of a project and its organization. */
export interface ProjectName {
  readonly name: string;
  readonly organization: string;
}

/** The questions. */
export interface OperationQueries extends FailedRequests {
  /**
   * Lists jobs of one kind, newest first.
   * @param subject if given, returns only jobs about this subject
   */
  readonly jobs: (kind: string, asked: PageAsked, subject?: string) => Promise<Page<Job>>;
  /** Returns the jobs that failed in the last seven days, without those whose names a later job includes. */
  readonly failedJobs: (kind: string) => Promise<readonly Job[]>;
  readonly parked: (asked: PageAsked) => Promise<Page<ParkedRow>>;
  /** Returns the names of projects by id; deleted projects are absent. */
  readonly projectNames: (ids: readonly string[]) => Promise<ReadonlyMap<string, ProjectName>>;
  readonly instances: () => Promise<readonly InstanceRow[]>;
  readonly allProductionRequests: () => Promise<readonly NamedProductionRequest[]>;
  readonly trustedApplications: (asked: PageAsked) => Promise<Page<TrustedRow>>;
  readonly sizes: () => Promise<Sizes>;
  readonly slowRoutes: () => Promise<SlowRoutes>;
}

const micros = (column: string): string => `(extract(epoch from ${column}) * 1000000)::int8`;

const PARKED = `
select process || ':' || event_id as id, process, event_id::text as event, stream, revision, error, attempts,
       ${micros('since')} as created_at, ${micros('retry_at')} as retry_at
  from operations.parked`;

const INSTANCES = `
select id, version, host, pid, runs, ${micros('started_at')} as started_at, ${micros('seen_at')} as seen_at,
       seen_at > clock_timestamp() - interval '30 seconds' as alive
  from operations.instance order by started_at desc, id`;

// Index: application_trusted.
const TRUSTED = `
select a.id, a.name, a.client_id, a.environment, a.project, p.name as project_name, p.organization,
       o.name as organization_name, a.created_at, a.trusted_at
  from projects.application a
  join projects.project p on p.id = a.project and p.deleted_at is null
  join projects.organization o on o.id = p.organization
 where a.trusted and a.deleted_at is null`;

const PROJECT_NAMES = `
select p.id, p.name, o.name as organization
  from projects.project p join projects.organization o on o.id = p.organization where p.id = any($1)`;

// Index: job_of_kind. A subject is a list of names, and a later job about more names is about these names too.
const FAILED = `
select ${JOB_COLUMNS} from operations.job j
 where kind = $1 and status = 'failed' and created_at > ${micros("clock_timestamp() - interval '7 days'")}
   and not exists (select from operations.job later where later.kind = $1 and later.created_at > j.created_at
     and string_to_array(j.subject, ' ') <@ string_to_array(later.subject, ' '))
 order by created_at desc, id limit 20`;

/** Creates the queries. */
export function openOperationQueries(pool: Pool): OperationQueries {
  return {
    jobs: (kind, asked, subject) => {
      const rows = `select ${JOB_COLUMNS} from operations.job where kind = $1`;
      const list =
        subject === undefined
          ? { name: 'jobs', rows, values: [kind] }
          : { name: 'jobs-of-subject', rows: `${rows} and subject = $2`, values: [kind, subject] };
      return readPage(pool, list, asked);
    },
    async failedJobs(kind) {
      return (await pool.query<Job>({ name: 'failed-jobs', text: FAILED, values: [kind] })).rows;
    },
    parked: (asked) => readPage(pool, { name: 'parked', rows: PARKED, values: [] }, asked),
    async projectNames(ids) {
      if (ids.length === 0) return new Map();
      const asked = { name: 'project-names', text: PROJECT_NAMES, values: [ids] };
      const { rows } = await pool.query<ProjectName & { readonly id: string }>(asked);
      return new Map(rows.map(({ id, ...names }) => [id, names]));
    },
    async instances() {
      return (await pool.query<InstanceRow>({ name: 'instances', text: INSTANCES })).rows;
    },
    allProductionRequests: () => allProductionRequests(pool),
    trustedApplications: (asked) =>
      readPage(pool, { name: 'trusted-applications', rows: TRUSTED, values: [] }, asked),
    sizes: () => readSizes(pool),
    slowRoutes: () => readSlowRoutes(pool),
    ...openFailedRequests(pool),
  };
}
