/**
 * Runs jobs on this instance: takes jobs that are waiting, or whose instance died, and starts their commands. A job that is
 * running when the service stops becomes waiting again.
 */
import { describeFailure } from '#src/database/failure.ts';
import type { Job, JobProgress } from '#src/shared/job.ts';
import { type RunningCommand, runCommand } from './command.ts';
import type { Ended, Ending } from './ended.ts';
import type { Jobs } from './jobs.ts';
import { describeEnd, KINDS } from './kinds.ts';

/** The interval between heartbeats, and between checks for jobs, in ms. */
const TICK_MS = 1_000;
/**
 * The maximum number of jobs of one kind that an instance runs at a time, so that one kind with many jobs doesn't make the
 * other kinds wait.
 */
const MOST: Readonly<Record<string, number>> = { rebuild: 2 };

interface Log {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

interface Running {
  readonly kind: string;
  readonly command: RunningCommand;
  readonly done: Promise<void>;
}

/** The runner of one instance. */
export class JobRunner {
  readonly #running = new Map<string, Running>();
  #ticking: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #stopping = false;

  constructor(
    private readonly deps: {
      readonly jobs: Jobs;
      /** Id of this instance. */
      readonly instance: string;
      /** Variables that point a command to this service's database, log and data. */
      readonly env: Readonly<Record<string, string | undefined>>;
      readonly log: Log;
    },
  ) {}

  /** Starts the runner; returns at once. */
  start(): void {
    this.#ticking = setInterval(() => this.look(), TICK_MS).unref();
    this.look();
  }

  /** Looks for a job now. */
  look(): void {
    this.#looking ??= this.#claim().finally(() => {
      this.#looking = undefined;
    });
  }

  /** Stops the commands and makes their jobs wait again. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#ticking);
    await this.#looking;
    for (const { command } of this.#running.values()) command.stop();
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  async #claim(): Promise<void> {
    try {
      while (!this.#stopping) {
        const job = await this.deps.jobs.claim(this.deps.instance, this.#freeKinds(), [
          ...this.#running.keys(),
        ]);
        if (job === undefined) return;
        this.#run(job);
      }
    } catch (error) {
      this.#warn(error, 'jobs could not be looked up');
    }
  }

  #freeKinds(): readonly string[] {
    const running = [...this.#running.values()].map(({ kind }) => kind);
    return Object.keys(KINDS).filter(
      (kind) => running.filter((each) => each === kind).length < (MOST[kind] ?? 1),
    );
  }

  #run(job: Job): void {
    const { env, log } = this.deps;
    const { id, kind, subject } = job;
    const described = KINDS[kind];
    if (described === undefined || job.cancel) {
      // The job was cancelled while its instance was dead.
      void this.#end(job, 'cancelled', { status: 'failed' });
      return;
    }
    log.info({ job: id, kind, subject }, 'a job starts');
    const command = runCommand(described.command(job), env, (line) =>
      log.warn({ job: id, line: line.slice(0, 2_000) }, 'a job says'),
    );
    const state = { cancelled: false, lost: false };
    const beating = setInterval(() => void this.#beat(job, command, state), TICK_MS);
    const done = command.ended
      .catch(
        (error: unknown): Ended => ({
          code: null,
          signal: null,
          printed: undefined,
          failure: describeFailure(error),
        }),
      )
      .then(async (ended) => {
        clearInterval(beating);
        if (state.lost) return;
        await this.deps.jobs.beat(job, this.deps.instance, command.progress()).catch(() => undefined);
        await this.#end(job, state.cancelled ? 'cancelled' : undefined, described.end(ended), ended);
      })
      .finally(() => {
        this.#running.delete(id);
        if (!this.#stopping) this.look();
      });
    this.#running.set(id, { kind, command, done });
  }

  /** Stops a job's command if the job was cancelled or taken over by another instance. */
  async #beat(
    job: Job,
    command: RunningCommand,
    state: { cancelled: boolean; lost: boolean },
  ): Promise<void> {
    try {
      const progress: JobProgress | undefined = command.progress();
      const found = await this.deps.jobs.beat(job, this.deps.instance, progress);
      state.lost ||= found === undefined;
      state.cancelled ||= found?.cancel === true;
      if (state.lost || state.cancelled) command.stop();
    } catch (error) {
      this.#warn(error, 'the progress of a job could not be saved');
    }
  }

  async #end(job: Job, cancelled: 'cancelled' | undefined, ending: Ending, ended?: Ended): Promise<void> {
    const { jobs, instance, log } = this.deps;
    const { id, kind, subject } = job;
    try {
      if (ending.status === 'done') {
        await jobs.finish(job, instance, { status: 'done', result: ending.result });
      } else if (cancelled !== undefined) {
        await jobs.finish(job, instance, { status: 'cancelled', result: ending.result });
      } else if (this.#stopping) {
        await jobs.release(job, instance);
      } else if (ending.status === 'again') {
        await jobs.release(job, instance, ending.error ?? 'it was interrupted');
      } else {
        const error = ending.error ?? (ended === undefined ? undefined : describeEnd(ended));
        await jobs.finish(job, instance, { status: 'failed', result: ending.result, error });
        log.warn({ job: id, kind, subject, error }, 'a job failed');
        return;
      }
      log.info({ job: id, kind, subject, status: cancelled ?? ending.status }, 'a job ended');
    } catch (error) {
      this.#warn(error, 'the end of a job could not be saved; the job will run again');
    }
  }

  #warn(error: unknown, message: string): void {
    this.deps.log.warn({ reason: describeFailure(error) }, message);
  }
}
