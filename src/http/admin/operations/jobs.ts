/** Jobs as answers show them. */
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
    .describe('`waiting`: an instance takes it within seconds, also after a restart.'),
  progress: z
    .object({
      done: z.int(),
      total: z.int().describe('An estimate, which may grow.'),
      unit: z.string(),
      note: z.string().nullable().describe('What it does now; null while it counts.'),
    })
    .nullable(),
  error: z.string().nullable().describe('Why it failed, or why it waits.'),
  cancelling: z.boolean().describe('Someone cancelled it, and it hasn’t stopped yet.'),
  started_by: z.object({ issuer: z.string(), subject: z.string(), email: z.string().nullable() }),
  instance: z.string().nullable().describe('Id of the instance that runs it, or ran it last.'),
  created_at: instant,
  started_at: instant.nullable(),
  finished_at: instant.nullable(),
};

/** Returns these members. */
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
