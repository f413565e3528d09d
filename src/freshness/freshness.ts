/**
 * Decides whether a read may be answered yet, by comparing the read models with the log. If read models lag, reads return 503
 * instead of stale data (docs/spec/decisions.md, section 3). `projections/freshness.ts` defines when a read model lags.
 */
import type { Pool } from 'pg';
import { readCheckpoints, unfilled } from '#projections/checkpoint.ts';
import type { Progress } from '#projections/progress.ts';
import type { ProjectionStatus, Projector } from '#projections/projector.ts';
import type { NewerEvents } from '../events/newer.ts';
import type { EventStore, Position } from '../events/store.ts';
import { acknowledgedPosition, noteLateWrite } from '../operations/late-writes.ts';
import { withTimeout } from '../shared/load/with-timeout.ts';
import { type Refusal, tablesMissing, unavailable } from '../shared/refusal.ts';
import { openSettle } from './settle.ts';

/** Maximum time to wait for read models, in ms. */
const WAIT_MS = 10_000;
/** How long to wait for the log's head before asking the database instead, in ms. */
const LOG_MS = 1_000;
/** Retry-After, in seconds, if someone has to act before the request can succeed. */
const STOPPED_SECONDS = 30;
/** The read models that must catch up before a write is answered. Searches themselves wait for `search`, which takes longer. */
export const RECORD_MODELS: readonly string[] = ['resources', 'history'];

/** Compares one instance's read models with the log. */
export class Freshness {
  /**
   * Waits like `waitFor`, before a write is answered (`settle.ts`).
   * @param models default: `RECORD_MODELS`
   */
  readonly settle: (position: Position, models?: readonly string[]) => Promise<boolean>;

  constructor(
    private readonly deps: {
      readonly pool: Pool;
      readonly store: Pick<EventStore, 'head'>;
      readonly progress: Progress;
      readonly projector: Pick<Projector, 'status'>;
      readonly newer: Pick<NewerEvents, 'at'>;
    },
  ) {
    const { pool, progress } = deps;
    const settle = openSettle({
      note: (position, models) => noteLateWrite(pool, position, models),
      waitFor: (position, models, ms) => progress.waitFor(position, models, ms),
      missing: () => progress.missing(),
      lookForMissing: async (models) => unfilled(models, await readCheckpoints(pool, models)),
    });
    this.settle = (position, models = RECORD_MODELS) => settle(position, models);
  }

  /**
   * Waits until the given read models have passed a position.
   * @returns false if that takes longer than ten seconds
   */
  waitFor(position: Position, models: readonly string[]): Promise<boolean> {
    return this.deps.progress.waitFor(position, models, WAIT_MS);
  }

  /**
   * Waits until the given read models include every acknowledged write.
   * @throws Refusal unavailable (503)
   */
  async catchUp(models: readonly string[]): Promise<void> {
    if (!(await this.waitFor(await this.acknowledged(), models))) throw this.refusal(models);
  }

  /**
   * Waits until the given read models include everything in the log.
   * @throws Refusal unavailable (503); errors of the log
   */
  async reachHead(models: readonly string[]): Promise<void> {
    if (!(await this.waitFor(await this.deps.store.head(), models))) throw this.refusal(models);
  }

  /**
   * Checks that the given read models have tables and don't lag.
   * @throws Refusal unavailable (503, Retry-After)
   */
  require(models: readonly string[]): void {
    if (models.length === 0) return;
    const stale = this.deps.progress.stale();
    if (stale.length > 0 && stale.some((name) => models.includes(name))) throw this.refusal(models);
  }

  /** Returns the refusal for reads of the given read models when one of them lags or has no tables. */
  refusal(models: readonly string[]): Refusal {
    const gone = this.deps.progress.missing().filter((name) => models.includes(name));
    if (gone.length > 0) return tablesMissing(gone);
    const why = this.stopped(models);
    if (why !== undefined) return unavailable(why, STOPPED_SECONDS);
    return unavailable(
      this.deps.progress.logAnswers
        ? 'the read model is catching up with recent writes; retry in a second'
        : "the event store doesn't answer, and the read model lacks the latest writes; retry in a second",
    );
  }

  /** Returns why one of the given read models can't catch up until someone acts; undefined if none of them has stopped. */
  stopped(models: readonly string[]): string | undefined {
    const { projector, progress, newer } = this.deps;
    return describeStopped(projector.status(), progress.stale(), models, newer);
  }

  /**
   * Returns the log's head. If the log doesn't answer, returns a position that is at or after every acknowledged write to a
   * record.
   * @throws errors of the database.
   */
  private async acknowledged(): Promise<Position> {
    const { store, progress, pool } = this.deps;
    if (progress.logAnswers) {
      const head = await withTimeout(LOG_MS, store.head()).catch(() => undefined);
      if (head !== undefined) return head;
    }
    return acknowledgedPosition(pool);
  }
}

/**
 * Returns why one of the given read models can't catch up until someone acts; undefined if none of them has stopped. If a
 * projection has stopped here but doesn't lag, another instance is running it.
 * @param stale names of the read models that lag.
 */
export function describeStopped(
  all: readonly Pick<ProjectionStatus, 'name' | 'state'>[],
  stale: readonly string[],
  models: readonly string[],
  newer: Pick<NewerEvents, 'at'>,
): string | undefined {
  const stopped = all.find(
    ({ name, state }) => state === 'failed' && stale.includes(name) && models.includes(name),
  );
  if (stopped === undefined) return undefined;
  const why = newer.at(stopped.name);
  return why === undefined
    ? `the read model ${stopped.name} stopped at an event that it can't apply; an operator must run annal verify, which names the event`
    : `the read model ${stopped.name} stopped: ${why}`;
}
