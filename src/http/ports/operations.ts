/** Defines the services for operators, in addition to queries and commands. `src/app/operations.ts` implements them. */
import type { Environment } from '#src/shared/access/caller.ts';
import type { Job, NewJob } from '#src/shared/job.ts';
import type { Position } from './position.ts';

/** How far something is behind the log. Events are counted only up to a maximum. */
export interface Lag {
  readonly events: number;
  readonly seconds: number;
}

export interface ReadModelState {
  readonly name: string;
  /** `failed` if this instance stopped at an event that it can't apply. */
  readonly state: 'serving' | 'rebuilding' | 'missing' | 'outdated' | 'failed';
  /** Of this software. */
  readonly version: number;
  /** The version of the software that created the tables; undefined if there are no tables. */
  readonly tableVersion: number | undefined;
  readonly position: Position | undefined;
  readonly lag: Lag | undefined;
  /** True if reads are currently refused. */
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

/** The state of everything that follows the log. */
export interface FollowerStates {
  /** The log's last position; undefined if the log doesn't respond. */
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

/** An event's type, and the tenant that owns its stream. */
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
     * Requests the cancellation of a job.
     * @returns undefined if there is no such unfinished job
     */
    cancel(kind: string, id: string): Promise<Job | undefined>;
  };
  /** Names of the read models. */
  readonly readModels: readonly string[];
  readonly followers: () => Promise<FollowerStates>;
  /**
   * Makes the next attempt at a parked event due now.
   * @returns false if the event isn't parked
   */
  readonly retryParked: (process: string, eventId: string) => Promise<boolean>;
  /** Returns an event's owner and type; undefined if the event no longer exists or the log doesn't respond. */
  readonly eventAt: (stream: string, revision: number) => Promise<EventOwner | undefined>;
  readonly issuers: () => Promise<readonly IssuerState[]>;
  /** Messages for operators about this instance, such as full disks or events from a newer version. */
  readonly notices: () => readonly string[];
}
