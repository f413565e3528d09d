/**
 * Keeps the read models up to date. Each projection has one runner among all instances, which subscribes to the log
 * after the checkpoint and writes batch by batch. A failing projection doesn't block others.
 */
import { merge, Observable, retry, type Subscription, timer } from 'rxjs';
import type { NewerEvents } from '#src/events/newer.ts';
import type { EventStore, Position } from '#src/events/store.ts';
import { CannotApply, describeFailure, isPassing } from './failure.ts';
import type { Progress } from './progress.ts';
import type { Projection } from './projection.ts';
import { Outdated, serve } from './running/term.ts';

/** Dependencies of a projector. */
export interface ProjectorDeps {
  readonly store: Pick<EventStore, 'subscribe'>;
  readonly databaseUrl: string;
  readonly projections: readonly Projection[];
  readonly progress: Progress;
  /** Called for events that a newer version wrote. */
  readonly newer?: NewerEvents;
  readonly log?: {
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

/** Times, for tests. */
export interface ProjectorTimes {
  /** How often an instance tries to become the runner. Default 500 ms. */
  readonly electionMs?: number;
  /** Age at which a heartbeat counts as that of a hung runner. Default 5 s. */
  readonly heartbeatLimitMs?: number;
  /** Pause before a failed projection is retried; another instance may run it meanwhile. Default 30 s. */
  readonly failedRetryMs?: number;
}

/**
 * State of a projection on this instance: `following` another runner, `running` here, `retrying` after a passing fault,
 * `failed` at an event that can't be applied, `outdated` if its tables need a rebuild.
 */
export type ProjectionState = 'starting' | 'following' | 'running' | 'retrying' | 'failed' | 'outdated';

/** Status for readiness, metrics and the log. */
export interface ProjectionStatus {
  readonly name: string;
  readonly state: ProjectionState;
  /** Its position, as far as this instance knows. */
  readonly position: Position | undefined;
  /** The last fault: a sentence, and the event when it is `failed`. */
  readonly failure?: { readonly message: string; readonly event?: CannotApply['event'] };
}

/** The runners of an instance. */
export class Projector {
  readonly #deps: ProjectorDeps;
  readonly #times: Required<ProjectorTimes>;
  readonly #states = new Map<string, Pick<ProjectionStatus, 'state' | 'failure'>>();
  readonly #closing = new Set<Promise<void>>();
  #running: Subscription | undefined;

  constructor(deps: ProjectorDeps, times: ProjectorTimes = {}) {
    this.#deps = deps;
    this.#times = { electionMs: 500, heartbeatLimitMs: 5_000, failedRetryMs: 30_000, ...times };
  }

  /** Begins to run, or to follow, every projection; their tables exist (`prepareReadModels`). */
  start(): void {
    this.#running = merge(
      ...this.#deps.projections.map((projection) => this.#keepRunning(projection)),
    ).subscribe();
  }

  /** Stops all projections: current batches are finished or rolled back, and other instances may take over. */
  async stop(): Promise<void> {
    this.#running?.unsubscribe();
    while (this.#closing.size > 0) await Promise.all(this.#closing);
  }

  status(): ProjectionStatus[] {
    return this.#deps.projections.map(({ name }) => ({
      name,
      position: this.#deps.progress.passed(name),
      ...(this.#states.get(name) ?? { state: 'starting' }),
    }));
  }

  #keepRunning(projection: Projection): Observable<Position> {
    return this.#run(projection).pipe(
      retry({
        delay: (error: unknown, tries) => this.#after(projection, error, tries),
        resetOnSuccess: true,
      }),
    );
  }

  /** Runs once: emits positions until it fails or is unsubscribed. */
  #run(projection: Projection): Observable<Position> {
    return new Observable((subscriber) => {
      const stopping = new AbortController();
      const term = serve(projection, {
        ...this.#deps,
        ...this.#times,
        signal: stopping.signal,
        entered: (state) => this.#states.set(projection.name, { state }),
        passed: (position) => {
          this.#deps.newer?.clear(projection.name);
          this.#deps.progress.advance(projection.name, position);
          subscriber.next(position);
        },
        tell: () => !this.#deps.progress.alone,
        logAnswers: () => this.#deps.progress.logAnswers,
        waitFor: (position, names, ms) => this.#deps.progress.waitFor(position, names, ms),
        pause: (ms) => this.#deps.progress.pause(projection.name, ms),
      }).catch((error: unknown) => subscriber.error(error));
      this.#closing.add(term);
      void term.then(() => this.#closing.delete(term));
      return () => stopping.abort();
    });
  }

  /** Reports a fault, and returns when to retry. */
  #after({ name }: Projection, error: unknown, tries: number): Observable<unknown> {
    const { log } = this.#deps;
    const message = describeFailure(error);
    if (error instanceof Outdated) {
      this.#states.set(name, { state: 'outdated', failure: { message } });
      return timer(this.#times.electionMs);
    }
    if (isPassing(error)) {
      this.#states.set(name, { state: 'retrying', failure: { message } });
      log?.warn({ projection: name, error: message }, 'projection interrupted; retrying');
      return timer(Math.min(100 * 2 ** (tries - 1), 5_000));
    }
    const { event, newer } = error instanceof CannotApply ? error : {};
    if (newer !== undefined) this.#deps.newer?.note(name, newer);
    this.#states.set(name, {
      state: 'failed',
      failure: { message, ...(event === undefined ? {} : { event }) },
    });
    log?.error(
      { projection: name, error: message, event },
      newer === undefined
        ? 'projection stopped'
        : 'this instance is too old to go on with a projection; a newer one takes over, if there is one',
    );
    return timer(this.#times.failedRetryMs);
  }
}
