/** Runs verifications as jobs: operators verify everything, and auditors verify one of their projects or records. */
import { z } from 'zod';
import type { Job } from '#src/shared/job.ts';
import { notFound } from '#src/shared/refusal.ts';
import { type ApiRequest, route } from '../../api/route.ts';
import { LIST_QUERY, listSchema, PAGED } from '../../api/schemas.ts';
import { isOperator, projectFor, requireOperator } from '../access.ts';
import { listed } from '../answers.ts';
import { JOB, jobView } from '../operations/jobs.ts';
import { patientId } from './ids.ts';

const TAG = 'Audit';
const KIND = 'verification';

const scope = z
  .union([
    z.literal('all'),
    z.strictObject({ project: z.string().max(64) }),
    z.strictObject({ project: z.string().max(64), patient: patientId }),
  ])
  .describe('`all`, a project, or a patient’s record in a project.');

const cause = z.object({
  where: z.string().describe('`log`, `documents`, `access log`, or a table.'),
  what: z.string().describe('docs/audit.md lists them.'),
  which: z.string(),
  event: z.string().nullable().describe('Id of the event, if the fault is about one.'),
  messages: z.array(z.string()),
  changed: z.array(z.string()).describe('Elements that differ, without their values.'),
  follows: z
    .record(z.string(), z.int())
    .describe('Number of rows per table that differ because of this cause.'),
});

const report = z.object({
  events: z.int(),
  streams: z.int(),
  faults: z.int(),
  compared: z
    .object({
      documents: z.int(),
      access_logs: z.int().describe('Patients whose access log was checked.'),
      access_entries: z.int(),
      read_models: z.array(z.string()),
    })
    .nullable()
    .default(null)
    .describe(
      'What was compared besides the events. Null in reports from earlier versions. Jobs don’t compare with a checkpoint.',
    ),
  causes: z.array(cause).describe('Faults by cause; at most 200.'),
  lagging: z
    .array(z.object({ read_model: z.string(), behind: z.int() }))
    .describe('Read models that were not compared to the end of the log, because they lag.'),
});

const verificationSchema = z
  .object({
    ...JOB,
    scope: z.object({
      kind: z.enum(['all', 'project', 'record']),
      project: z.string().nullable(),
      patient: z.string().nullable(),
    }),
    faults: z.int().nullable().describe('Number of faults; null until the verification is done.'),
    report: report.nullable().describe('Null until the verification is done; lists leave out `causes`.'),
  })
  .meta({ id: 'Verification' });

type Scope = z.output<typeof verificationSchema>['scope'];

/** Returns the text of a verification's scope, which is the job's subject. Ids contain no blanks. */
function nameScope(of: z.output<typeof scope>): string {
  if (of === 'all') return 'all';
  return 'patient' in of ? `record ${of.patient} ${of.project}` : `project ${of.project}`;
}

function scopeIn({ subject }: Pick<Job, 'subject'>): Scope {
  const [kind, id = null, project = null] = subject.split(' ');
  if (kind === 'project') return { kind, project: id, patient: null };
  return kind === 'record' ? { kind, project, patient: id } : { kind: 'all', project: null, patient: null };
}

function verificationView(job: Job): z.input<typeof verificationSchema> {
  const found = report.safeParse(job.result).data ?? null;
  return { ...jobView(job), scope: scopeIn(job), faults: found?.faults ?? null, report: found };
}

/** Formats a list item without causes, because a list of many verifications with causes would be too long. */
function itemView(job: Job): z.input<typeof verificationSchema> {
  const view = verificationView(job);
  return { ...view, report: view.report && { ...view.report, causes: [] } };
}

type Asking = Pick<
  ApiRequest<'/{job_id}', 'identity'>,
  'services' | 'identity' | 'params' | 'requestId' | 'ids' | 'now' | 'retry' | 'concerns'
>;

/**
 * Finds a verification that the caller may see: operators see all verifications, auditors those of their projects.
 * @throws Refusal not_found (404), forbidden (403)
 */
async function find(request: Asking): Promise<Job> {
  const { services, params } = request;
  const job = await services.operations.jobs.find(KIND, params.job_id);
  const unknown = () => notFound('verification', params.job_id.slice(0, 60));
  if (job === undefined) throw unknown();
  if (await isOperator(request)) return job;
  const { project } = scopeIn(job);
  if (project === null || (await services.adminQueries.project(request.identity, project)) === undefined)
    throw unknown();
  await projectFor(request, project, 'auditor');
  return job;
}

/** Routes for verifications. */
export const VERIFICATION_ROUTES = [
  route({
    method: 'POST',
    path: '/admin/operations/verifications',
    operationId: 'startVerification',
    summary: 'Verify everything, a project, or a record',
    description:
      'Runs `annal verify` as a job. `all` is for operators of the installation; a project or a record is for the organization’s auditors, admins and owners. If the same verification is already waiting or running, the answer is that job (200). docs/audit.md says what a narrowed verification leaves out.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    models: ['projects', 'resources'],
    body: z
      .strictObject({ scope })
      .meta({ examples: [{ scope: { project: 'proj_WKf3nDxr0H-E8wVPuwrEnQ' } }] }),
    answers: {
      200: {
        description: 'The same verification, which is already waiting or running',
        schema: verificationSchema,
      },
      201: { description: 'The verification', schema: verificationSchema },
    },
    async run(request) {
      const { services, body, identity } = request;
      const { scope: asked } = body;
      if (asked === 'all') await requireOperator(request);
      else {
        await projectFor(request, asked.project, 'auditor');
        if ('patient' in asked) {
          const home = await services.audit.findHome(asked.project, 'Patient', asked.patient);
          if (home === undefined) throw notFound('Patient', asked.patient);
        }
      }
      const { issuer, subject, email } = identity;
      const { job, made } = await services.operations.jobs.start({
        kind: KIND,
        subject: nameScope(asked),
        options: {},
        started_by: { issuer, subject, email },
      });
      return { status: made ? 201 : 200, body: verificationView(job) };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/operations/verifications',
    operationId: 'listVerifications',
    summary: 'Verifications, the newest first',
    description: `${PAGED} With \`project\`: verifications of a project and its records, for its auditors. Without it: all verifications, for operators.`,
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    query: z.strictObject({ ...LIST_QUERY, project: z.string().max(64).optional() }),
    answers: { 200: { description: 'A page', schema: listSchema(verificationSchema) } },
    async run(request) {
      const { services, query } = request;
      const { project, ...page } = query;
      if (project === undefined) {
        await requireOperator(request);
        return listed(await services.adminQueries.jobs(KIND, page), itemView);
      }
      const { id } = await projectFor(request, project, 'auditor');
      return listed(await services.audit.jobsOfProject(KIND, id, page), itemView);
    },
  }),
  route({
    method: 'GET',
    path: '/admin/operations/verifications/{job_id}',
    operationId: 'getVerification',
    summary: 'A verification, its progress, and what it found by cause',
    description: 'The progress is at most a second old. The report has no values from records.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: { 200: { description: 'The verification', schema: verificationSchema } },
    async run(request) {
      return { status: 200, body: verificationView(await find(request)) };
    },
  }),
  route({
    method: 'POST',
    path: '/admin/operations/verifications/{job_id}/cancel',
    operationId: 'cancelVerification',
    summary: 'Cancel a verification',
    description: 'A verification that has ended stays as it is.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: {
      200: { description: 'The verification; it stops within seconds', schema: verificationSchema },
    },
    async run(request) {
      const { id } = await find(request);
      const cancelled = await request.services.operations.jobs.cancel(KIND, id);
      return { status: 200, body: verificationView(cancelled ?? (await find(request))) };
    },
  }),
];
