/** Tries to complete the work for one event; if that fails, parks the event so that later events can be handled. */
import { setTimeout as delay } from 'node:timers/promises';
import { describeFailure } from '#src/database/failure.ts';
import type { Position, RecordedEvent } from '../events/store.ts';
import type { ProcessDefinition, ProcessDeps, ProcessTimes } from './definition.ts';
import type { Lead } from './lead.ts';
import type { ParkedEvents } from './parked.ts';
import { isForOthers, isPassing } from './passing.ts';

/** How many times an event is tried before it is parked; including the pauses, this takes 3 s. */
const TRIES = 6;

/** Works on one process's events, one by one. */
export class EventWork {
  /** The event that is failing with a temporary error, and since when it has been failing, by this process's clock. */
  #held: { readonly position: Position; readonly since: number } | undefined;

  constructor(
    readonly definition: ProcessDefinition,
    readonly deps: Pick<ProcessDeps, 'store' | 'pool' | 'log'>,
    readonly parked: ParkedEvents,
    readonly times: Required<Pick<ProcessTimes, 'firstPauseMs' | 'patienceMs'>>,
  ) {}

  /**
   * Acts on events in order, as `on` does.
   * @returns whether there was anything to do
   */
  async onAll(events: readonly RecordedEvent[], lead: Pick<Lead, 'holding'>): Promise<boolean> {
    const { actOnAll } = this.definition;
    if (actOnAll !== undefined && events.length > 0) {
      try {
        return await lead.holding(actOnAll(events));
      } catch (error) {
        if (isForOthers(error)) throw error;
      }
    }
    for (const event of events) await this.on(event, lead);
    return events.length > 0;
  }

  /**
   * Acts on an event, and parks it if it keeps failing.
   * @throws temporary errors. If such an error persists while the log and the database respond, it counts as the event's own
   *   error; otherwise, a statement that always times out would delay later events forever.
   */
  async on(event: RecordedEvent, { holding }: Pick<Lead, 'holding'>): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        await holding(this.definition.act(event));
        this.#held = undefined;
        return;
      } catch (error) {
        if (isPassing(error)) {
          if (isForOthers(error) || !(await this.#hasHeldUp(event))) throw error;
          await this.#park(event, error);
          return;
        }
        if (tries === TRIES) {
          await this.#park(event, error);
          return;
        }
        await holding(delay(this.times.firstPauseMs * 2 ** (tries - 1)));
      }
    }
  }

  /** Returns whether an event has been failing for the maximum time although its dependencies respond. */
  async #hasHeldUp({ position }: RecordedEvent): Promise<boolean> {
    const now = performance.now();
    if (this.#held?.position !== position) this.#held = { position, since: now };
    if (now - this.#held.since < this.times.patienceMs) return false;
    const { store, pool } = this.deps;
    return Promise.all([store.ping(), pool.query('SELECT 1')]).then(
      () => true,
      () => false,
    );
  }

  async #park(event: RecordedEvent, error: unknown): Promise<void> {
    const { name } = this.definition;
    const { id, type, stream, revision } = event;
    await this.parked.park(name, event, describeFailure(error), TRIES);
    this.deps.log.error(
      { process: name, event: { id, type, stream, revision }, err: error },
      'a process could not handle an event and parked it; it will be retried (annal parked lists parked events)',
    );
  }
}
