/** Formats jobs for responses. */
import { z } from 'zod';
import type { Job } from '#src/shared/job.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { instant } from '../../api/schemas.ts';
import { toInstantOrNull } from '../answers.ts';

/** The members of every job. */
export const JOB = {
  id: z.string(),
  status: z
    .enum(['waiting', 'running', 'done', 'failed', 'cancelled'])
    .describe('`waiting`: an instance takes the job within seconds, even after a restart.'),
  progress: z
    .object({
      done: z.int(),
      total: z.int().describe('An estimate, which may grow.'),
      unit: z.string(),
      note: z.string().nullable().describe('What the job is doing; null while it counts.'),
    })
    .nullable(),
  error: z.string().nullable().describe('Why the job failed, or why it is waiting.'),
  cancelling: z.boolean().describe('Someone has cancelled the job, but it hasn’t stopped yet.'),
  started_by: z.object({ issuer: z.string(), subject: z.string(), email: z.string().nullable() }),
  instance: z.string().nullable().describe('Id of the instance that runs the job, or ran it last.'),
  created_at: instant,
  started_at: instant.nullable(),
  finished_at: instant.nullable(),
};

/** Returns the members that every job has. */
export function jobView(job: Job) {
  const { id, status, progress, error, started_by: by, instance, created_at, started_at, finished_at } = job;
  return {
    id,
    status,
    progress: progress && { ...progress, note: progress.note ?? null },
    error,
    cancelling: job.cancel && finished_at === null,
    started_by: { issuer: by.issuer, subject: by.subject, email: by.email ?? null },
    instance,
    created_at: toInstant(created_at),
    started_at: toInstantOrNull(started_at),
    finished_at: toInstantOrNull(finished_at),
  };
}
