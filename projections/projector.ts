/**
 * Keeps the read models up to date. Each projection has one runner across all instances, which subscribes to the log from the
 * checkpoint on and writes batch by batch. Projections with the same `transaction` share a runner until one of them fails, so
 * that a failing projection doesn't block others.
 */
import { catchError, merge, Observable, retry, type Subscription, throwError, timer } from 'rxjs';
import type { NewerEvents } from '#src/events/newer.ts';
import type { EventStore, Position } from '#src/events/store.ts';
import { CannotApply, describeFailure, isPassing } from './failure.ts';
import type { Progress } from './progress.ts';
import type { Projection } from './projection.ts';
import { Divided, Outdated, serve } from './running/term.ts';

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
  /** How often an instance tries to become the runner, in ms. Default 500 ms. */
  readonly electionMs?: number;
  /** The age at which a heartbeat means that its runner hangs. Default 5 s. */
  readonly heartbeatLimitMs?: number;
  /** How long to pause before a failed projection is retried; another instance may run it in the meantime. Default 30 s. */
  readonly failedRetryMs?: number;
}

/**
 * A projection's state on this instance: `following` another runner, `running` here, `retrying` after a temporary fault,
 * `failed` at an event that can't be applied, or `outdated` if its tables need a rebuild.
 */
export type ProjectionState = 'starting' | 'following' | 'running' | 'retrying' | 'failed' | 'outdated';

/** A projection's status, for readiness, metrics and the log. */
export interface ProjectionStatus {
  readonly name: string;
  readonly state: ProjectionState;
  /** The projection's position, as far as this instance knows. */
  readonly position: Position | undefined;
  /** The last fault: a sentence, and the event if the state is `failed`. */
  readonly failure?: { readonly message: string; readonly event?: CannotApply['event'] };
}

/** An instance's runners. */
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

  /** Starts running or following every projection. The projections' tables must exist (`prepareReadModels`). */
  start(): void {
    this.#running = merge(
      ...runTogether(this.#deps.projections).map((projections) => this.#keepRunning(projections)),
    ).subscribe();
  }

  /** Stops all projections: current batches are finished or rolled back, and other instances can take over. */
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

  /** Runs projections as long as this process lives; runs them separately as soon as one of them has failed permanently. */
  #keepRunning(projections: readonly Projection[]): Observable<Position> {
    return this.#run(projections).pipe(
      retry({
        delay: (error: unknown, tries) => this.#after(projections, error, tries),
        resetOnSuccess: true,
      }),
      // Only a group of several projections ends here: a single projection is always retried.
      catchError((error: unknown) => {
        if (error instanceof Divided)
          this.#deps.log?.warn({ error: error.message }, 'these projections now run one by one');
        return merge(...projections.map((projection) => this.#keepRunning([projection])));
      }),
    );
  }

  /** Runs projections once: emits positions until the run fails or is unsubscribed from. */
  #run(projections: readonly Projection[]): Observable<Position> {
    return new Observable((subscriber) => {
      const stopping = new AbortController();
      const term = serve(projections, {
        ...this.#deps,
        ...this.#times,
        signal: stopping.signal,
        entered: (state) => {
          for (const { name } of projections) this.#states.set(name, { state });
        },
        passed: (name, position) => {
          this.#deps.newer?.clear(name);
          this.#deps.progress.advance(name, position);
          subscriber.next(position);
        },
        tell: () => !this.#deps.progress.alone,
        logAnswers: () => this.#deps.progress.logAnswers,
        waitFor: (position, names, ms) => this.#deps.progress.waitFor(position, names, ms),
        pause: (name, ms) => this.#deps.progress.pause(name, ms),
      }).catch((error: unknown) => subscriber.error(error));
      this.#closing.add(term);
      void term.then(() => this.#closing.delete(term));
      return () => stopping.abort();
    });
  }

  /** Reports a fault, and returns when to retry: never, if the fault is permanent and several projections run together. */
  #after(projections: readonly Projection[], error: unknown, tries: number): Observable<unknown> {
    const { log } = this.#deps;
    const message = describeFailure(error);
    if (isPassing(error)) {
      for (const { name } of projections) {
        this.#states.set(name, { state: 'retrying', failure: { message } });
        log?.warn({ projection: name, error: message }, 'projection interrupted; retrying');
      }
      return timer(Math.min(100 * 2 ** (tries - 1), 5_000));
    }
    const [only, ...others] = projections;
    if (only === undefined || others.length > 0) return throwError(() => error);
    const { name } = only;
    if (error instanceof Outdated) {
      this.#states.set(name, { state: 'outdated', failure: { message } });
      return timer(this.#times.electionMs);
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
        : 'this instance is too old to continue a projection; a newer instance takes over, if one is running',
    );
    return timer(this.#times.failedRetryMs);
  }
}

/** Returns projections in groups: projections with the same transaction together, every other projection on its own. */
function runTogether(projections: readonly Projection[]): Projection[][] {
  const groups = new Map<string, Projection[]>();
  for (const projection of projections) {
    const { name, transaction = name } = projection;
    const group = groups.get(transaction);
    if (group === undefined) groups.set(transaction, [projection]);
    else group.push(projection);
  }
  return [...groups.values()];
}
