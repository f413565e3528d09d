/** Defines the services for operators, in addition to queries and commands. `src/app/operations.ts` implements them. */
import type { Environment } from '#src/shared/access/caller.ts';
import type { Job, NewJob } from '#src/shared/job.ts';
import type { Position } from './position.ts';

/** How far something is behind the log; events are counted only up to a bound. */
export interface Lag {
  readonly events: number;
  readonly seconds: number;
}

export interface ReadModelState {
  readonly name: string;
  /** `failed`: this instance stopped at an event that it can't apply. */
  readonly state: 'serving' | 'rebuilding' | 'missing' | 'outdated' | 'failed';
  /** Of this software. */
  readonly version: number;
  /** The version of the software that created the tables; undefined without tables. */
  readonly tableVersion: number | undefined;
  readonly position: Position | undefined;
  readonly lag: Lag | undefined;
  /** True if reads are refused. */
  readonly stale: boolean;
  readonly failure: string | undefined;
  readonly bytes: number;
}

export interface ProcessState {
  readonly name: string;
  readonly position: Position | undefined;
  readonly lag: Lag | undefined;
  readonly parked: number;
}

/** Everything that follows the log. */
export interface FollowerStates {
  /** The log's last position; undefined if the log doesn't answer. */
  readonly head: Position | undefined;
  readonly readModels: readonly ReadModelState[];
  readonly processes: readonly ProcessState[];
}

/** An issuer of ID tokens; times are in ms. */
export interface IssuerState {
  readonly issuer: string;
  /** The accepted audiences; undefined if only organizations trust the issuer. */
  readonly audiences: readonly string[] | undefined;
  readonly keys: readonly {
    readonly kid?: string | undefined;
    readonly alg?: string | undefined;
    readonly kty?: string | undefined;
  }[];
  readonly fetchedAt: number | undefined;
  readonly failure: { readonly at: number; readonly message: string } | undefined;
}

/** The type of an event, and the tenant that owns its stream. */
export interface EventOwner {
  readonly type: string;
  readonly project?: string;
  readonly environment?: Environment;
}

/** The services that operators' routes use. */
export interface OperationServices {
  /** This instance's id. */
  readonly instance: string;
  readonly jobs: {
    /** Starts a job, or returns the unfinished job of the same kind and subject. */
    start(job: NewJob): Promise<{ readonly job: Job; readonly made: boolean }>;
    find(kind: string, id: string): Promise<Job | undefined>;
    /**
     * Requests that a job be cancelled.
     * @returns undefined unless the job exists and is unfinished
     */
    cancel(kind: string, id: string): Promise<Job | undefined>;
  };
  /** Names of the read models. */
  readonly readModels: readonly string[];
  readonly followers: () => Promise<FollowerStates>;
  /**
   * Makes the next attempt at a parked event due now.
   * @returns false if it isn't parked
   */
  readonly retryParked: (process: string, eventId: string) => Promise<boolean>;
  /** Returns who owns an event, and its type; undefined if the event is gone or the log doesn't answer. */
  readonly eventAt: (stream: string, revision: number) => Promise<EventOwner | undefined>;
  readonly issuers: () => Promise<readonly IssuerState[]>;
  /** Messages about this instance for operators: full disks, events from a newer version. */
  readonly notices: () => readonly string[];
}
