/** Routes for the checkpoints that the service stores: operators create and download them, and auditors record their roots. */
import { z } from 'zod';
import type { KeptCheckpoint } from '#src/shared/checkpoint.ts';
import type { Job } from '#src/shared/job.ts';
import { notFound } from '#src/shared/refusal.ts';
import { whileAllowed } from '../../answer/while-allowed.ts';
import { route } from '../../api/route.ts';
import { instant, LIST_QUERY, listSchema, PAGED } from '../../api/schemas.ts';
import { projectFor, requireOperator } from '../access.ts';
import { listed } from '../answers.ts';
import { JOB, jobView } from '../operations/jobs.ts';

const TAG = 'Audit';
const KIND = 'checkpoint';

const checkpointSchema = z
  .object({
    id: z.string(),
    time: instant.describe('When it was signed.'),
    position: z
      .string()
      .nullable()
      .describe('Position in the event store; the checkpoint covers all events up to it.'),
    events: z.int().nullable().describe('Null for a project’s auditors, like the other numbers.'),
    streams: z.int().nullable(),
    access_logs: z.int().nullable().describe('Number of patients whose access log it covers.'),
    root: z.string().describe('Merkle root: 64 hex digits, enough to recognise the file later.'),
    public_key: z.string(),
    bytes: z.int().nullable().describe('Size of the compressed file in bytes.'),
  })
  .meta({ id: 'Checkpoint' });

const madeSchema = z
  .object({ ...JOB, checkpoint: z.string().nullable().describe('The checkpoint’s id, once it is made.') })
  .meta({ id: 'CheckpointJob' });

function checkpointView(kept: KeptCheckpoint): z.input<typeof checkpointSchema> {
  const { id, time, position, events, streams, access_logs, root, public_key, bytes } = kept;
  return { id, time, position, events, streams, access_logs, root, public_key, bytes };
}

/** Returns only the members that reveal nothing about other projects. */
function checkpointInShort({ id, time, root, public_key }: KeptCheckpoint): z.input<typeof checkpointSchema> {
  const unsaid = { position: null, events: null, streams: null, access_logs: null, bytes: null };
  return { id, time, root, public_key, ...unsaid };
}

const kept = z.object({ id: z.string() });

function jobOfCheckpoint(job: Job): z.input<typeof madeSchema> {
  return { ...jobView(job), checkpoint: kept.safeParse(job.result).data?.id ?? null };
}

/** Routes for checkpoints. */
export const CHECKPOINT_ROUTES = [
  route({
    method: 'GET',
    path: '/admin/operations/checkpoints',
    operationId: 'listCheckpoints',
    summary: 'Checkpoints that the service keeps, the newest first',
    description: `${PAGED} For operators of the installation. With \`project\`, also for that project’s auditors, but without the numbers, which are about all projects. An auditor keeps the root, which identifies the file.`,
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    query: z.strictObject({ ...LIST_QUERY, project: z.string().max(64).optional() }),
    answers: { 200: { description: 'A page', schema: listSchema(checkpointSchema) } },
    async run(request) {
      const { project, ...page } = request.query;
      if (project === undefined) await requireOperator(request);
      else await projectFor(request, project, 'auditor');
      const found = await request.services.audit.listCheckpoints(page);
      return listed(found, project === undefined ? checkpointView : checkpointInShort);
    },
  }),
  route({
    method: 'POST',
    path: '/admin/operations/checkpoints',
    operationId: 'makeCheckpoint',
    summary: 'Make a checkpoint',
    description:
      'Runs `annal checkpoint --keep` as a job, for operators of the installation. The job reads and checks the whole log. If a checkpoint is already being made, the answer is that job (200). Nothing is signed if the log or the access log has faults.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: {
      200: { description: 'The job that is already waiting or running', schema: madeSchema },
      201: { description: 'The job', schema: madeSchema },
    },
    async run(request) {
      await requireOperator(request);
      const { issuer, subject, email } = request.identity;
      const { job, made } = await request.services.operations.jobs.start({
        kind: KIND,
        subject: 'all',
        options: {},
        started_by: { issuer, subject, email },
      });
      return { status: made ? 201 : 200, body: jobOfCheckpoint(job) };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/operations/checkpoints/jobs/{job_id}',
    operationId: 'getCheckpointJob',
    summary: 'The job that makes a checkpoint, and its progress',
    description: 'For operators. The progress is at most a second old.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: { 200: { description: 'The job', schema: madeSchema } },
    async run(request) {
      await requireOperator(request);
      const job = await request.services.operations.jobs.find(KIND, request.params.job_id);
      if (job === undefined) throw notFound('job', request.params.job_id.slice(0, 60));
      return { status: 200, body: jobOfCheckpoint(job) };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/operations/checkpoints/{checkpoint_id}',
    operationId: 'downloadCheckpoint',
    summary: 'A checkpoint as a file',
    description:
      'Only for operators, because the file names the streams of all projects. The file is compressed with gzip, as `annal checkpoint --out` writes it: `annal verify --checkpoint FILE --key PUBLICKEY` compares the log with it.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: { 200: { description: 'The file (`application/gzip`)', bytes: true } },
    async run(request) {
      await requireOperator(request);
      const { audit } = request.services;
      const found = await audit.findCheckpoint(request.params.checkpoint_id);
      if (found === undefined) throw notFound('checkpoint', request.params.checkpoint_id.slice(0, 60));
      return {
        status: 200,
        headers: {
          'Content-Type': 'application/gzip',
          'Content-Disposition': `attachment; filename="checkpoint-${found.time.slice(0, 10)}-${found.id}.ndjson.gz"`,
        },
        stream: whileAllowed(audit.readCheckpoint(found.id), () => requireOperator(request)),
      };
    },
  }),
];
