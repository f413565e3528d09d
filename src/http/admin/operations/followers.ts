/** Shows operators the read models, the processes and their parked events, the instances and the issuers. */
import { z } from 'zod';
import type { InstanceRow, ParkedRow, ProjectName } from '#queries/admin/operations.ts';
import { isUuid } from '#src/shared/ids.ts';
import { notFound } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { instant, LIST_QUERY, listSchema, PAGED } from '../../api/schemas.ts';
import type { EventOwner, IssuerState, Lag, ProcessState, ReadModelState } from '../../ports/operations.ts';
import { listed } from '../answers.ts';
import { listWhole, operatorRoute } from './route.ts';

const lag = z
  .object({
    events: z.int().describe('Number of events behind the log, counted up to 5,000.'),
    seconds: z.number().describe('Age of the oldest of these events.'),
  })
  .nullable()
  .describe('The distance behind the log; null if it is unknown.');

const position = z.string().nullable().describe('Position in the log.');

const instanceId = z
  .string()
  .nullable()
  .describe('Id of the instance that runs it, at most ten seconds old; null if no instance runs it.');

const readModel = z
  .object({
    name: z.string(),
    state: z
      .enum(['serving', 'rebuilding', 'missing', 'outdated', 'failed'])
      .describe(
        '`outdated`: a different version of Annal made the tables. `failed`: this instance stopped at an event that it can’t apply.',
      ),
    stale: z.boolean().describe('True if reads are refused (503) on this instance.'),
    version: z.int().describe('Version of the tables that this version of Annal needs.'),
    table_version: z.int().nullable().describe('Version of the tables that are in service.'),
    position,
    lag,
    bytes: z.int(),
    instance: instanceId,
    failure: z.string().nullable(),
  })
  .meta({ id: 'ReadModel' });

const process = z
  .object({
    name: z.string(),
    position,
    lag,
    parked: z.int().describe('Events that it could not handle, and retries.'),
    instance: instanceId,
  })
  .meta({ id: 'Process' });

const parkedEvent = z
  .object({
    id: z.string(),
    process: z.string(),
    event_id: z.string(),
    stream: z.string(),
    revision: z.int(),
    type: z.string().nullable().describe('Of the event; null if it is gone.'),
    project: z
      .object({ id: z.string(), name: z.string().nullable(), organization: z.string().nullable() })
      .nullable()
      .describe('The project that the event belongs to; null for the installation’s own events.'),
    environment: z.enum(['sandbox', 'production']).nullable(),
    error: z.string().describe('The last attempt’s error, without data.'),
    attempts: z.int(),
    since: instant,
    retry_at: instant,
  })
  .meta({ id: 'ParkedEvent' });

const instanceSchema = z
  .object({
    id: z.string(),
    version: z.string(),
    host: z.string(),
    pid: z
      .int()
      .describe('Id of the process that receives signals, if the instance consists of several processes.'),
    started_at: instant,
    last_seen_at: instant.describe('At most ten seconds old.'),
    alive: z
      .boolean()
      .describe(
        'False if the instance wasn’t seen for 30 seconds. An instance that shuts down cleanly isn’t listed.',
      ),
    answers: z.boolean().describe('True for the instance that answers this request.'),
    runs: z.array(z.string()).describe('The processes and read models that it runs for all instances.'),
  })
  .meta({ id: 'Instance' });

const issuerSchema = z
  .object({
    issuer: z.string(),
    audiences: z.array(z.string()).nullable().describe('null: only an organization trusts it.'),
    keys: z.array(z.object({ kid: z.string().nullable(), alg: z.string().nullable(), kty: z.string() })),
    fetched_at: instant.nullable(),
    failed_at: instant.nullable().describe('When the last fetch failed; null if it succeeded.'),
    failure: z.string().nullable(),
  })
  .meta({ id: 'Issuer' });

const lagView = (of: Lag | undefined) => of ?? null;
const ofMillis = (ms: number | undefined): string | null => (ms === undefined ? null : toInstant(ms * 1_000));

const findRunner = (instances: readonly InstanceRow[], what: string): string | null =>
  instances.find(({ alive, runs }) => alive && runs.includes(what))?.id ?? null;

function readModelView(model: ReadModelState, instances: readonly InstanceRow[]) {
  return {
    name: model.name,
    state: model.state,
    stale: model.stale,
    version: model.version,
    table_version: model.tableVersion ?? null,
    position: model.position ?? null,
    lag: lagView(model.lag),
    bytes: model.bytes,
    instance: findRunner(instances, `read model ${model.name}`),
    failure: model.failure ?? null,
  };
}

function processView(of: ProcessState, instances: readonly InstanceRow[]) {
  return {
    name: of.name,
    position: of.position ?? null,
    lag: lagView(of.lag),
    parked: of.parked,
    instance: findRunner(instances, `process ${of.name}`),
  };
}

function parkedView(
  row: ParkedRow,
  owner: EventOwner | undefined,
  names: ReadonlyMap<string, ProjectName>,
): z.input<typeof parkedEvent> {
  const { type = null, project, environment = null } = owner ?? {};
  return {
    type,
    project:
      project === undefined ? null : { id: project, name: null, organization: null, ...names.get(project) },
    environment,
    id: row.id,
    process: row.process,
    event_id: row.event,
    stream: row.stream,
    revision: row.revision,
    error: row.error,
    attempts: row.attempts,
    since: toInstant(row.created_at),
    retry_at: toInstant(row.retry_at),
  };
}

function issuerView({
  issuer,
  audiences,
  keys,
  fetchedAt,
  failure,
}: IssuerState): z.input<typeof issuerSchema> {
  return {
    issuer,
    audiences: audiences === undefined ? null : [...audiences],
    keys: keys.map(({ kid = null, alg = null, kty = '' }) => ({ kid, alg, kty })),
    fetched_at: ofMillis(fetchedAt),
    failed_at: ofMillis(failure?.at),
    failure: failure?.message ?? null,
  };
}

/** Routes for everything that follows the log, and for the instances that run it. */
export const FOLLOWER_ROUTES = [
  operatorRoute({
    method: 'GET',
    path: '/admin/operations/read-models',
    operationId: 'listReadModels',
    summary: 'Read models with state, lag and size',
    description:
      'A rebuild keeps the serving tables until its own replace them, so reads work while it runs.',
    answers: { 200: { description: 'All', schema: listSchema(readModel) } },
    async run({ services }) {
      const { operations, adminQueries } = services;
      const [{ readModels }, instances] = await Promise.all([
        operations.followers(),
        adminQueries.instances(),
      ]);
      return listWhole(readModels.map((model) => readModelView(model, instances)));
    },
  }),
  operatorRoute({
    method: 'GET',
    path: '/admin/operations/processes',
    operationId: 'listProcesses',
    summary: 'Processes that react to events, with lag and parked events',
    description: 'Each process runs on one instance at a time. If that instance dies, another one continues.',
    answers: { 200: { description: 'All', schema: listSchema(process) } },
    async run({ services }) {
      const { operations, adminQueries } = services;
      const [{ processes }, instances] = await Promise.all([
        operations.followers(),
        adminQueries.instances(),
      ]);
      return listWhole(processes.map((of) => processView(of, instances)));
    },
  }),
  operatorRoute({
    method: 'GET',
    path: '/admin/operations/parked',
    operationId: 'listParkedEvents',
    summary: 'Events that a process could not handle, the newest first',
    description: `${PAGED} Parked events are retried after growing pauses, at most an hour, and are never dropped.`,
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listSchema(parkedEvent) } },
    async run({ services, query }) {
      const { adminQueries, operations } = services;
      const page = await adminQueries.parked(query);
      const owners = new Map(
        await Promise.all(
          page.rows.map(async ({ id, stream, revision }) => {
            return [id, await operations.eventAt(stream, revision)] as const;
          }),
        ),
      );
      const names = await adminQueries.projectNames(
        [...owners.values()].flatMap((owner) => owner?.project ?? []),
      );
      return listed(page, (row) => parkedView(row, owners.get(row.id), names));
    },
  }),
  operatorRoute({
    method: 'POST',
    path: '/admin/operations/parked/{parked_id}/retry',
    operationId: 'retryParkedEvent',
    summary: 'Retry a parked event within ten seconds',
    description: 'If the event fails again, it stays in the list with the new error.',
    answers: { 202: { description: 'The next attempt is due. If it succeeds, the event leaves the list' } },
    async run({ services, params }) {
      const [process = '', event = ''] = params.parked_id.split(':');
      const found = isUuid(event) && (await services.operations.retryParked(process, event));
      if (!found) throw notFound('parked event', params.parked_id.slice(0, 100));
      return { status: 202 };
    },
  }),
  operatorRoute({
    method: 'GET',
    path: '/admin/operations/instances',
    operationId: 'listInstances',
    summary: 'Instances of the service that run on this database',
    description: 'An instance that ended without shutting down cleanly stays in the list for a week.',
    answers: { 200: { description: 'All instances, the newest first', schema: listSchema(instanceSchema) } },
    async run({ services }) {
      const instances = await services.adminQueries.instances();
      return listWhole(
        instances.map(({ id, version, host, pid, alive, runs, started_at, seen_at }) => ({
          ...{ id, version, host, pid, alive, runs },
          started_at: toInstant(started_at),
          last_seen_at: toInstant(seen_at),
          answers: id === services.operations.instance,
        })),
      );
    },
  }),
  operatorRoute({
    method: 'GET',
    path: '/admin/operations/issuers',
    operationId: 'listIssuers',
    summary: 'Trusted issuers of ID tokens and their keys, as this instance knows them',
    description:
      'The installation’s own issuers, and organizations’ issuers whose tokens this instance has verified recently. The request fetches keys that are older than ten minutes.',
    answers: { 200: { description: 'All', schema: listSchema(issuerSchema) } },
    async run({ services }) {
      return listWhole((await services.operations.issuers()).map(issuerView));
    },
  }),
];
