/** `annal production`: lets an operator allow or refuse projects' requests for production access, and withdraw this access. */
import type { Pool } from 'pg';
import { allowProduction, refuseProduction, withdrawProduction } from '#commands/project/production.ts';
import { PROJECT, type ProjectState } from '#commands/project/state.ts';
import {
  allProductionRequests,
  type NamedProductionRequest,
  newestProductionApplication,
} from '#queries/admin/production.ts';
import { projectName } from '#queries/projects.ts';
import { openPool } from '#src/database/pool.ts';
import { projectStream } from '#src/events/streams.ts';
import { type Micros, toInstant } from '#src/shared/time/time.ts';
import { requireDatabaseUrl } from '../database.ts';
import { expectAction, Failure, MISUNDERSTOOD } from '../failure.ts';
import { counted, table, withoutEmpty } from '../table.ts';
import { decideAsOperator, type OperatorDecision, type OperatorOptions, print } from './operator.ts';

/** The command-line options. */
export interface ProductionOptions extends OperatorOptions {
  /** The reason for refusing a request. */
  readonly reason?: string;
}

const ACTIONS = ['allow', 'withdraw', 'list', 'refuse'];

/**
 * Runs `allow`, `withdraw` or `refuse` on a project, or lists requests.
 * @param project empty to list the requests from all projects
 * @throws Failure if arguments are invalid, or the project doesn't exist or isn't open
 */
export async function productionCommand(
  action: string,
  project: string,
  { reason, ...options }: ProductionOptions,
): Promise<void> {
  expectAction('production', action, ACTIONS);
  if (reason !== undefined && action !== 'refuse')
    throw new Failure(`--reason belongs to refuse, not to ${action}`, MISUNDERSTOOD);
  if (action === 'list') return list(project, options);
  if (project === '') throw new Failure(`name the project: annal production ${action} proj_…`, MISUNDERSTOOD);
  const newest =
    action === 'withdraw'
      ? await query(options, (pool) => newestProductionApplication(pool, project))
      : undefined;
  await decideAsOperator(
    { fold: PROJECT, stream: projectStream(project), ...decisionOn(project, action, { reason, newest }) },
    options,
  );
}

/**
 * Returns the decision for an action, and the text about its result.
 * @param newest the time at which the newest production application was registered
 */
function decisionOn(
  project: string,
  action: string,
  { reason, newest }: { readonly reason: string | undefined; readonly newest: Micros | undefined },
): Omit<OperatorDecision<ProjectState>, 'fold' | 'stream'> {
  switch (action) {
    case 'allow':
      return {
        decide: allowProduction(project),
        sentence: `${project} may create production keys and applications`,
        data: { project, production_access: true },
      };
    case 'refuse':
      return {
        decide: refuseProduction(project, reason),
        sentence: `The production request of ${project} was refused`,
        data: { project, status: 'refused', reason: reason ?? null },
      };
    default:
      return {
        decide: withdrawProduction(project, newest),
        // Otherwise, applications that were registered later than the withdrawal would still be allowed.
        after: newest,
        sentence: `${project} may no longer create production keys or applications`,
        data: { project, production_access: false },
      };
  }
}

/**
 * Lists requests.
 * @throws Failure for an unknown or closed project
 */
async function list(project: string, options: OperatorOptions): Promise<void> {
  const { json = false } = options;
  const requests = await query(options, async (pool) => {
    if (project !== '' && (await projectName(pool, project)) === undefined)
      throw new Failure(`project/${project} doesn't exist`);
    return allProductionRequests(pool, project === '' ? undefined : project);
  });
  print({ data: requests.map(requestView), total: requests.length }, describe(requests), json);
}

function requestView(request: NamedProductionRequest): object {
  return {
    id: request.id,
    project: { id: request.project, name: request.project_name },
    organization: { id: request.organization, name: request.organization_name },
    person: request.person,
    use: request.use,
    status: request.status,
    production_access: request.production,
    reason: request.reason,
    created_at: toInstant(request.created_at),
    answered_at: request.answered_at === null ? null : toInstant(request.answered_at),
  };
}

function describe(requests: readonly NamedProductionRequest[]): string {
  if (requests.length === 0) return 'No project has asked for production.';
  const rows = requests.map((request) => [
    request.status,
    request.production ? 'allowed' : 'not allowed',
    request.project,
    request.project_name,
    request.organization_name,
    request.person ?? '',
    toInstant(request.created_at).slice(0, 10),
    request.use,
    request.reason ?? '',
  ]);
  const heading = [
    'Status',
    'Access',
    'Project',
    'Name',
    'Organization',
    'Asked by',
    'Asked',
    'Use',
    'Reason',
  ];
  const pending = requests.filter(({ status }) => status === 'pending').length;
  return `${table(...withoutEmpty(heading, rows))}\n\n${counted(requests.length, 'request')}, ${pending} pending.`;
}

async function query<T>(options: OperatorOptions, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool(await requireDatabaseUrl(options), { max: 1, name: 'annal production' });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
