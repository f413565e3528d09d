/** Routes for take-backs, which retract what a source, key, application or AI wrote, and can be undone (docs/take-back.md). */
import { z } from 'zod';
import { AUTHOR_TYPES } from '#src/shared/access/author.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { nowMicros, toInstant, toMicros } from '#src/shared/time/time.ts';
import { type ApiRequest, route } from '../api/route.ts';
import { environment, instant, LIST_QUERY, listSchema, PAGED } from '../api/schemas.ts';
import type { TakebackRow } from '../ports/takebacks.ts';
import { addReversed } from '../rest/days.ts';
import { projectFor } from './access.ts';
import { listed, toInstantOrNull } from './answers.ts';

const TAG = 'Take-backs';

const selectShape = {
  source_system: z.string().min(1).max(1_000).optional().describe('As `X-Service-Source-System` named it.'),
  key_id: z.string().min(1).max(64).optional(),
  application_id: z.string().min(1).max(64).optional(),
  author_type: z.enum(AUTHOR_TYPES).optional(),
  model: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('As `X-Service-Author-Model` named it; only with `author_type` `ai`.'),
};

const selection = z
  .strictObject(selectShape)
  .refine(
    ({ source_system, key_id, application_id, author_type }) =>
      [source_system, key_id, application_id, author_type].some((each) => each !== undefined),
    'name at least one of source_system, key_id, application_id and author_type',
  )
  .refine(({ model, author_type }) => model === undefined || author_type === 'ai', {
    path: ['model'],
    message: 'model belongs to author_type ai',
  });

const moment = z.iso.datetime({ offset: true, message: 'must be an instant, such as 2026-11-01T00:00:00Z' });

const person = z.object({ issuer: z.string(), subject: z.string(), email: z.string().nullable() }).nullable();

const planSchema = z.object({
  versions: z.int().describe('Selected versions.'),
  records: z.int().describe('Number of records that contain them; the directory counts as one record.'),
  resources: z.int(),
  restored: z
    .int()
    .describe('Number of resources that get the content of the last version that isn’t selected.'),
  removed: z
    .int()
    .describe('Number of resources that are deleted, because they had no other content before.'),
  stays: z.int().describe('Number of resources that stay as they are.'),
  staying: z
    .array(
      z.object({
        resource: z.string(),
        version: z.int().describe('Its current version.'),
        because: z
          .enum(['changed_since', 'record_in_use', 'patient_deleted'])
          .describe(
            '`changed_since`: others have changed it. `record_in_use`: the Patient of a record in which others have written. `patient_deleted`: others have deleted the Patient.',
          ),
      }),
    )
    .describe('The first 200 resources that stay.'),
  told: z
    .object({
      exports: z.int().describe('Number of signed exports of the records.'),
      shared_links: z.int().describe('Shared links that were opened.'),
      contexts: z.int(),
      receipts: z
        .int()
        .optional()
        .describe('Receipts of answers that name a selected version; absent in plans before receipts.'),
      webhooks: z.object({ deliveries: z.int(), endpoints: z.array(z.string()) }),
    })
    .describe('How the data may have reached others since the first selected version in each record.'),
});

/** The states in which the service works on a take-back. */
const OPEN = ['planning', 'running', 'undoing'] as const;

const sums = z.object({
  records: z.int(),
  versions: z.int().describe('Versions that were written.'),
  stays: z.int().describe('Resources that stayed as they were.'),
});

const takebackSchema = z
  .object({
    id: z.string(),
    project_id: z.string(),
    environment,
    select: z.object(selectShape),
    since: instant.nullable(),
    until: instant,
    reason: z.string().nullable(),
    status: z.enum(['planning', 'planned', 'running', 'done', 'undoing', 'undone', 'failed']),
    failed_while: z
      .enum(OPEN)
      .nullable()
      .describe('Null unless the status is `failed`. You can undo a take-back that failed while `running`.'),
    progress: z.object({ done: z.int(), total: z.int(), unit: z.string() }).nullable(),
    error: z
      .string()
      .nullable()
      .describe('Why it failed, or why it is waiting. Send the request again to continue it.'),
    plan: planSchema.nullable().describe('Null while it is being planned.'),
    result: sums.nullable(),
    undo_result: sums.nullable(),
    planned_by: person.describe('Null for the operator of the installation, also in the next two members.'),
    started_by: person,
    undone_by: person,
    created_at: instant,
    started_at: instant.nullable(),
    finished_at: instant.nullable(),
    undone_at: instant.nullable(),
  })
  .meta({ id: 'Takeback' });

function takebackView(row: TakebackRow): z.input<typeof takebackSchema> {
  const { job } = row;
  const failed = job?.status === 'failed' ? OPEN.find((state) => state === row.state) : undefined;
  const who = (by: TakebackRow['planned_by']) =>
    by && { issuer: by.issuer, subject: by.subject, email: by.email ?? null };
  return {
    id: row.id,
    project_id: row.project,
    environment: row.environment,
    select: selection.parse(row.selected),
    since: toInstantOrNull(row.since_at),
    until: toInstant(row.until_at),
    reason: row.reason,
    status: failed === undefined ? row.state : 'failed',
    failed_while: failed ?? null,
    progress: job?.progress
      ? { done: job.progress.done, total: job.progress.total, unit: job.progress.unit }
      : null,
    error: job?.error ?? null,
    plan: planSchema.safeParse(row.plan).data ?? null,
    result: sums.safeParse(row.result).data ?? null,
    undo_result: sums.safeParse(row.undo_result).data ?? null,
    planned_by: who(row.planned_by),
    started_by: who(row.started_by),
    undone_by: who(row.undone_by),
    created_at: toInstant(row.created_at),
    started_at: toInstantOrNull(row.started_at),
    finished_at: toInstantOrNull(row.finished_at),
    undone_at: toInstantOrNull(row.undone_at),
  };
}

type Asking = Parameters<typeof projectFor>[0] &
  Pick<ApiRequest<'/{project_id}/{takeback_id}', 'identity'>, 'params'>;

/**
 * Finds a take-back in a project that the caller administers.
 * @throws Refusal not_found (404), forbidden (403)
 */
async function find(request: Asking): Promise<TakebackRow> {
  const { services, params } = request;
  const { id } = await projectFor(request, params.project_id, 'admin');
  const found = await services.takebacks.find(id, params.takeback_id);
  if (found === undefined) throw notFound('take-back', params.takeback_id.slice(0, 60));
  return found;
}

/** Returns the selectors given in the request. */
function given(select: z.output<typeof selection>): JsonObject {
  return Object.fromEntries(
    Object.entries(select).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/**
 * Requests that a take-back start or be undone.
 * @throws Refusal conflict (409) if the take-back's state doesn't allow that
 */
async function order(
  request: Asking & Pick<ApiRequest<string, 'identity'>, 'identity'>,
  kind: 'start' | 'undo',
) {
  const { id, state } = await find(request);
  const { issuer, subject, email } = request.identity;
  const row = await request.services.takebacks.carryOut(id, kind, { issuer, subject, email });
  if (row === undefined)
    throw new Refusal('conflict', {
      code: 'conflict',
      diagnostics: `the take-back is ${state}; ${kind === 'start' ? 'one that is planned can be started' : 'one that is done, or that failed while it was running, can be undone'}`,
    });
  return { status: 202 as const, body: takebackView(row) };
}

/** Routes for take-backs. */
export const TAKEBACK_ROUTES = [
  route({
    method: 'POST',
    path: '/admin/projects/{project_id}/takebacks',
    operationId: 'planTakeback',
    summary: 'Plan to take back what a source system, a key, an application or an AI wrote',
    description:
      'Nothing is written before you start the take-back. All selectors must match; at least one of the first four is required. The request waits a few seconds for the plan. In large projects the status is then `planning`, and `GET` returns the plan later.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    body: z
      .strictObject({
        select: selection,
        environment,
        since: moment.optional().describe('Only versions written at this time or later.'),
        until: moment.optional().describe('Only versions written before this time; default: now.'),
        reason: z.string().trim().min(1).max(500).optional().describe('The reason, which patients can read.'),
      })
      .superRefine(({ since, until }, context) => {
        if (since === undefined) return;
        if (until !== undefined && toMicros(since) > toMicros(until))
          addReversed(['since', since], ['until', until], context);
        else if (toMicros(since) > nowMicros())
          context.addIssue({ code: 'custom', path: ['since'], message: 'must not be in the future' });
      })
      .meta({
        examples: [
          {
            select: { source_system: 'Ward 3 analyser' },
            environment: 'production',
            since: '2026-11-01T00:00:00Z',
            reason: 'The analyser was calibrated wrongly.',
          },
        ],
      }),
    answers: { 201: { description: 'The take-back with its plan', schema: takebackSchema } },
    async run(request) {
      const { services, params, body, identity } = request;
      const { id: project } = await projectFor(request, params.project_id, 'admin');
      const { issuer, subject, email } = identity;
      const row = await services.takebacks.create({
        project,
        environment: body.environment,
        selected: given(body.select),
        since_at: body.since === undefined ? null : toMicros(body.since),
        until_at: body.until === undefined ? null : toMicros(body.until),
        reason: body.reason ?? null,
        planned_by: { issuer, subject, email },
      });
      return { status: 201, body: takebackView(row) };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/takebacks',
    operationId: 'listTakebacks',
    summary: 'Take-backs of a project, the newest first',
    description: PAGED,
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listSchema(takebackSchema) } },
    async run(request) {
      const { id } = await projectFor(request, request.params.project_id, 'admin');
      return listed(await request.services.takebacks.list(id, request.query), takebackView);
    },
  }),
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/takebacks/{takeback_id}',
    operationId: 'getTakeback',
    summary: 'A take-back, its plan and its progress',
    description: 'The progress is at most a second old.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: { 200: { description: 'The take-back', schema: takebackSchema } },
    async run(request) {
      return { status: 200, body: takebackView(await find(request)) };
    },
  }),
  route({
    method: 'POST',
    path: '/admin/projects/{project_id}/takebacks/{takeback_id}/start',
    operationId: 'startTakeback',
    summary: 'Take back what was planned',
    description:
      'Each record gets ordinary updates and deletions in one append, with the author type of the restored version and the source system `takeback/<id>`. Later changes by others stay. The take-back survives restarts.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: {
      202: { description: 'The take-back, which goes on in the background', schema: takebackSchema },
    },
    run: (request) => order(request, 'start'),
  }),
  route({
    method: 'POST',
    path: '/admin/projects/{project_id}/takebacks/{takeback_id}/undo',
    operationId: 'undoTakeback',
    summary: 'Undo a take-back',
    description:
      'Each resource gets the content that it had before, byte for byte except its version and time, unless others have changed it since. A take-back that failed while it was running can also be undone.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: { 202: { description: 'The take-back, which is being undone', schema: takebackSchema } },
    run: (request) => order(request, 'undo'),
  }),
];
