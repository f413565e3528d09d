/**
 * Jobs: long-running work that operators and auditors start. It isn't tied to a request or an instance, and survives a
 * restart.
 */
import type { Person } from './access/member.ts';
import type { Json, JsonObject } from './json/json.ts';
import type { Micros } from './time/time.ts';

export type JobStatus = 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';

/**
 * Why a job's command ended without a result: it was asked to stop or lost its database or event store, another process is doing the same work, or the work was
 * already done.
 */
export const FAILURE_REASONS = ['interrupted', 'busy', 'finished'] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** The progress of a job. */
export interface JobProgress {
  readonly done: number;
  /** An estimate that may grow. */
  readonly total: number;
  readonly unit: string;
  /** The current step of the job; absent while the job is counting. */
  readonly note?: string | undefined;
}

/** A job as stored. */
export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly subject: string;
  readonly options: JsonObject;
  readonly status: JobStatus;
  readonly progress: JobProgress | null;
  readonly result: Json;
  /** Why it failed. */
  readonly error: string | null;
  readonly started_by: Person;
  readonly created_at: Micros;
  readonly started_at: Micros | null;
  readonly finished_at: Micros | null;
  readonly instance: string | null;
  /** True once someone has asked to cancel the job. */
  readonly cancel: boolean;
}

/** A job to start. */
export interface NewJob extends Pick<Job, 'kind' | 'subject' | 'options' | 'started_by'> {}

/** Returns a rebuild's subject: the names of the read models, sorted. */
export function nameSubject(names: readonly string[]): string {
  return [...new Set(names)].sort().join(' ');
}

/** Returns the names in a subject. */
export function readSubject(subject: string): readonly string[] {
  return subject.split(' ');
}

/** The columns of `operations.job` that make up a `Job`. */
export const JOB_COLUMNS =
  'id, kind, subject, options, status, progress, result, error, started_by, created_at, started_at, finished_at, instance, cancel';
