/** `annal grants`: lists the grants on a patient's record, of an application or of a project, now or as of any given time. */
import type { Pool } from 'pg';
import { openConsentQueries } from '#queries/consents/consents.ts';
import type { ErasedGrant, GrantRow, GrantsAsked } from '#queries/consents/grants.ts';
import { openPool } from '#src/database/pool.ts';
import { faultOfMoment, parseMoment } from '#src/shared/time/moment.ts';
import { type Micros, toInstant } from '#src/shared/time/time.ts';
import { Failure, MISUNDERSTOOD } from '../failure.ts';
import { type ProjectOptions, tenantNamed } from '../project.ts';
import type { ServiceOptions } from '../service.ts';
import { withDatabase } from '../stopped.ts';
import { counted, table, withoutEmpty } from '../table.ts';
import { resolvePatient } from './patients.ts';
import { refuseFuture } from './record.ts';

/** The command-line options. */
export interface GrantsOptions extends Pick<ServiceOptions, 'dataDir'>, ProjectOptions {
  readonly json?: boolean;
  /** The application's id or client id. */
  readonly application?: string;
  readonly at?: string;
}

/** Grants that meet every condition, and the remaining data about purged grants. */
interface Found {
  readonly grants: readonly GrantRow[];
  readonly erased: readonly ErasedGrant[];
}

/** Rows of a page. */
const PAGE = 200;

/**
 * Prints grants, newest first.
 * @param patient words from a name, an identifier or an id; empty for all patients
 * @returns the exit code
 * @throws Failure if no patient, application or project is given, if the given one is unknown, or for an invalid time
 */
export async function grantsCommand(
  patient: string,
  { json = false, at, application, project, environment, ...where }: GrantsOptions,
): Promise<number> {
  if (patient === '' && application === undefined && project === undefined)
    throw new Failure('name a patient, --application or --project: annal grants mira sand', MISUNDERSTOOD);
  if (environment !== undefined && project === undefined)
    throw new Failure('--environment needs --project', MISUNDERSTOOD);
  const moment = at === undefined ? undefined : parsePastMoment(at);
  const found = await withDatabase(where, async ({ url }) => {
    const record = patient === '' ? undefined : await resolvePatient(url, patient);
    const pool = openPool(url, { max: 1, name: 'annal grants' });
    try {
      const tenant =
        project === undefined
          ? {}
          : await tenantNamed(pool, { project, ...(environment === undefined ? {} : { environment }) });
      const id = application === undefined ? undefined : await applicationNamed(pool, application);
      return await read(pool, { ...tenant, record, application: id, at: moment, limit: PAGE });
    } finally {
      await pool.end();
    }
  });
  process.stdout.write(`${json ? JSON.stringify(toJson(found, at), null, 2) : describe(found, at)}\n`);
  return 0;
}

/** @throws Failure if the text isn't a date or date-time, or is in the future */
function parsePastMoment(at: string): Micros {
  const moment = parseMoment(at);
  if (moment?.kind !== 'time') {
    const expected = 'expected a date (2026-03-01) or a date-time with a time zone (2026-03-01T09:30:00Z)';
    throw new Failure(`--at ${at}: ${faultOfMoment(at) ?? expected}`, MISUNDERSTOOD);
  }
  refuseFuture(at);
  return moment.micros;
}

/**
 * Returns the id of the application with the given id or client id.
 * @throws Failure for an unknown application
 */
export async function applicationNamed(pool: Pool, text: string): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    'select a.id from projects.application a where a.id = $1 or a.client_id = $1',
    [text],
  );
  const [row] = rows;
  if (row === undefined) throw new Failure(`unknown application ${text}: none has this id or client id`);
  return row.id;
}

async function read(pool: Pool, asked: GrantsAsked): Promise<Found> {
  const queries = openConsentQueries(pool);
  const { application, record, project, environment, at } = asked;
  const conditions = { application, record, project, environment, at, limit: PAGE };
  const grants: GrantRow[] = [];
  for (let cursor: string | undefined; ; ) {
    const { rows, next } = await queries.listGrants({ ...conditions, cursor });
    grants.push(...rows);
    if (next === undefined) break;
    cursor = next;
  }
  // Of a purged grant, only the application's id remains.
  const erased =
    application === undefined || record !== undefined ? [] : await queries.listErasedGrants(application, at);
  return { grants, erased };
}

function toJson({ grants, erased }: Found, at: string | undefined): object {
  return {
    ...(at === undefined ? {} : { at }),
    data: grants.map((grant) => ({
      id: grant.id,
      status: grant.status,
      end_reason: grant.end_reason,
      patient: grant.record,
      pairwise_patient: grant.patient,
      person: { issuer: grant.issuer, subject: grant.subject },
      application: { id: grant.application_id, name: grant.application_name, project: grant.project },
      environment: grant.environment,
      purpose: grant.purpose,
      scopes: grant.scopes,
      scopes_text: grant.sentences,
      lang: grant.lang,
      granted_by: grant.granted_by,
      granted_at: toInstant(grant.created_at),
      expires_at: toInstant(grant.expires_at),
      ended_at: grant.ended_at === null ? null : toInstant(grant.ended_at),
      owner: { project: grant.owner_project, environment: grant.owner_environment },
    })),
    total: grants.length,
    purged: erased.map(({ id, application_id, granted_at, ended_at }) => ({
      id,
      application: application_id,
      granted_at: toInstant(granted_at),
      ended_at: toInstant(ended_at),
    })),
  };
}

const minute = (micros: Micros): string => `${toInstant(micros).slice(0, 16).replace('T', ' ')}`;

function describe({ grants, erased }: Found, at: string | undefined): string {
  const moment = at === undefined ? '' : ` as of ${at}`;
  const rest =
    erased.length === 0 ? [] : [`${counted(erased.length, 'grant')} more on records that were purged.`];
  if (grants.length === 0) return [`No grants${moment}.`, ...rest].join('\n');
  const rows = grants.map((grant) => [
    grant.id,
    grant.status,
    grant.application_name ?? grant.application_id,
    grant.record,
    grant.subject,
    grant.granted_by,
    grant.scopes.join(' '),
    minute(grant.created_at),
    minute(grant.expires_at),
    grant.ended_at === null ? '' : `${minute(grant.ended_at)} ${grant.end_reason}`,
  ]);
  const heading = [
    ...['Grant', 'State', 'Application', 'Patient', 'Person', 'Granted by', 'Scopes'],
    ...['Granted', 'Expires', 'Ended'],
  ];
  const active = grants.filter(({ status }) => status === 'active').length;
  const count = `${counted(grants.length, 'grant')}${moment}, ${active} active. Times are UTC.`;
  return [table(...withoutEmpty(heading, rows)), '', [count, ...rest].join(' ')].join('\n');
}
