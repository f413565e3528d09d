/** Routes that rebuild read models, as jobs (docs/operations.md#rebuild-read-models). */
import { z } from 'zod';
import { type Job, nameSubject, readSubject } from '#src/shared/job.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import type { ApiRequest } from '../../api/route.ts';
import { LIST_QUERY, listSchema, PAGED } from '../../api/schemas.ts';
import { listed } from '../answers.ts';
import { JOB, jobView } from './jobs.ts';
import { operatorRoute } from './route.ts';

const KIND = 'rebuild';

const rebuilt = z.object({
  name: z.string(),
  outcome: z
    .enum(['swapped', 'stopped', 'differs'])
    .describe('`differs`: rebuilt rows differ from the rows in service, which stay in service.'),
  events: z.int(),
  tables: z
    .array(
      z.object({
        table: z.string(),
        serving: z.int().describe('Its rows.'),
        rebuilt: z.int(),
        differences: z.int(),
        more_differences: z.boolean().describe('True if counting stopped.'),
      }),
    )
    .describe('The comparison; empty if a different version of Annal made the serving tables.'),
});

const rebuildSchema = z
  .object({
    ...JOB,
    read_models: z.array(z.string()),
    load: z.enum(['low', 'full']),
    force: z.boolean(),
    result: z
      .array(rebuilt)
      .nullable()
      .describe('The result per read model; null until the rebuild has ended.'),
  })
  .meta({ id: 'Rebuild' });

const stored = z.object({ models: z.array(rebuilt) });

function rebuildView(job: Job): z.input<typeof rebuildSchema> {
  const { load, force } = job.options;
  return {
    ...jobView(job),
    read_models: [...readSubject(job.subject)],
    load: load === 'full' ? 'full' : 'low',
    force: force === true,
    result: stored.safeParse(job.result).data?.models ?? null,
  };
}

const names = z.array(z.string().max(100)).min(1).max(50);

/**
 * Finds a rebuild job.
 * @throws Refusal not_found
 */
async function find({ services, params }: Pick<ApiRequest<'/{job_id}', 'identity'>, 'services' | 'params'>) {
  const job = await services.operations.jobs.find(KIND, params.job_id);
  if (job === undefined) throw notFound('rebuild', params.job_id.slice(0, 60));
  return job;
}

/**
 * Refuses unknown read models.
 * @throws Refusal invalid (422)
 */
function requireKnown(asked: readonly string[], known: readonly string[]): void {
  const unknown = asked.findIndex((name) => !known.includes(name));
  if (unknown === -1) return;
  throw new Refusal('invalid', {
    code: 'value',
    diagnostics: `unknown read model ${asked[unknown]}; the read models are ${known.join(', ')}`,
    expression: `read_models.${unknown}`,
  });
}

/** Routes of rebuilds. */
export const REBUILD_ROUTES = [
  operatorRoute({
    method: 'GET',
    path: '/admin/operations/rebuilds',
    operationId: 'listRebuilds',
    summary: 'Rebuilds of read models that were started over HTTP, the newest first',
    description: PAGED,
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listSchema(rebuildSchema) } },
    async run({ services, query }) {
      return listed(await services.adminQueries.jobs(KIND, query), rebuildView);
    },
  }),
  operatorRoute({
    method: 'POST',
    path: '/admin/operations/rebuilds',
    operationId: 'startRebuild',
    summary: 'Rebuild read models from the log',
    description:
      'The rebuild runs as a job beside the serving tables, which answer reads until they are replaced; it survives restarts, and continues where it stopped. If the same read models are already being rebuilt, the answer is that job (200).',
    body: z
      .strictObject({
        read_models: names,
        confirm: names.describe('The same names once more.'),
        load: z
          .enum(['low', 'full'])
          .default('low')
          .describe('`low` has little effect on requests; `full` is as fast as possible.'),
        force: z
          .boolean()
          .default(false)
          .describe('Use the rebuilt tables even if their rows differ from the serving ones.'),
      })
      .meta({ examples: [{ read_models: ['search'], confirm: ['search'] }] }),
    answers: {
      200: {
        description: 'The rebuild of the same read models, which is already waiting or running',
        schema: rebuildSchema,
      },
      201: { description: 'The rebuild', schema: rebuildSchema },
    },
    async run({ services, body, identity }) {
      const { readModels, jobs } = services.operations;
      requireKnown(body.read_models, readModels);
      const subject = nameSubject(body.read_models);
      if (nameSubject(body.confirm) !== subject)
        throw new Refusal('invalid', {
          code: 'value',
          diagnostics: '`confirm` must repeat the names in `read_models`',
          expression: 'confirm',
        });
      const { issuer, subject: person, email } = identity;
      const { job, made } = await jobs.start({
        kind: KIND,
        subject,
        options: { load: body.load, force: body.force },
        started_by: { issuer, subject: person, email },
      });
      return { status: made ? 201 : 200, body: rebuildView(job) };
    },
  }),
  operatorRoute({
    method: 'GET',
    path: '/admin/operations/rebuilds/{job_id}',
    operationId: 'getRebuild',
    summary: 'A rebuild and its progress',
    description: 'The progress is at most a second old.',
    answers: { 200: { description: 'The rebuild', schema: rebuildSchema } },
    async run(request) {
      return { status: 200, body: rebuildView(await find(request)) };
    },
  }),
  operatorRoute({
    method: 'POST',
    path: '/admin/operations/rebuilds/{job_id}/cancel',
    operationId: 'cancelRebuild',
    summary: 'Cancel a rebuild',
    description:
      'The serving tables stay as they are. The next rebuild of the same read models continues from there. A rebuild that has ended stays as it is.',
    answers: { 200: { description: 'The rebuild; it stops within seconds', schema: rebuildSchema } },
    async run(request) {
      const { id } = await find(request);
      const cancelled = await request.services.operations.jobs.cancel(KIND, id);
      return { status: 200, body: rebuildView(cancelled ?? (await find(request))) };
    },
  }),
];
