/** Runs one projection while this instance is elected for it: batches in, rows and checkpoint out. */
import type pg from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import type { EventBatch, Position } from '#src/events/store.ts';
import { eraseFromAbandoned } from './abandoned.ts';
import { advance, type Checkpoint } from './checkpoint.ts';
import { CannotApply, isPassing } from './failure.ts';
import type { Projection } from './projection.ts';
import { understood } from './understood.ts';

/** How often a runner without work gives a sign of life. */
const HEARTBEAT_MS = 1_000;

/** Writes a projection's rows over one pipelining session. Calls of its methods must not overlap, except `tick`. */
export class Runner {
  /** What the checkpoint's row says. */
  #held: Checkpoint;
  /** How far it has come: past `#held` by events that the projection does not take. */
  #position: Position;
  #beatenAt = 0;
  #beating: Promise<void> = Promise.resolve();
  #busy = false;

  /**
   * @param session an elected session with `pipeline`.
   * @param checkpoint as read on that session.
   * @param passed told each position as soon as reads see it.
   * @param tell whether other instances must be told of it.
   */
  constructor(
    private readonly projection: Projection,
    private readonly session: pg.Client,
    checkpoint: Checkpoint,
    private readonly passed: (position: Position) => void,
    private readonly tell: () => boolean,
  ) {
    this.#held = checkpoint;
    this.#position = checkpoint.position;
  }

  /** How far the projection has come. */
  get position(): Position {
    return this.#position;
  }

  /**
   * Applies one batch.
   * @throws CannotApply naming the event at fault; CheckpointMoved; errors of the connection. Nothing is written then.
   */
  async apply(batch: EventBatch): Promise<void> {
    await this.#beating;
    this.#busy = true;
    try {
      if (batch.events.length > 0) await this.#write(batch);
      this.#position = batch.position;
      this.passed(batch.position);
    } finally {
      this.#busy = false;
    }
  }

  /**
   * Between batches: a heartbeat every second, and the checkpoint when events went by that the projection does not take.
   * @throws CheckpointMoved; errors of the connection.
   */
  async tick(): Promise<void> {
    const due = performance.now() - this.#beatenAt >= HEARTBEAT_MS;
    if (this.#busy || (!due && this.#position === this.#held.position)) return;
    const position = this.#position;
    const beating = advance(this.session, this.projection.name, this.#held, position, this.tell()).then(() =>
      this.#holds(position),
    );
    this.#beating = beating.catch(() => undefined);
    await beating;
  }

  /** Two round trips: checkpoint and rows are sent together, then the commit. */
  async #write(batch: EventBatch): Promise<void> {
    const { projection, session } = this;
    const { name } = projection;
    const events = this.#understood(batch);
    const [begun, moved, written] = await Promise.allSettled([
      session.query('begin'),
      advance(session, name, this.#held, batch.position, this.tell()),
      projection.project(session, name, events, 'serve'),
    ]);
    if (begun.status === 'fulfilled' && moved.status === 'fulfilled' && written.status === 'fulfilled') {
      await eraseFromAbandoned(session, projection, events);
      await session.query('commit');
      this.#holds(batch.position);
      return;
    }
    await session.query('rollback');
    // The first of them is the cause: what was sent behind it failed because the transaction had.
    for (const step of [begun, moved]) if (step.status === 'rejected') throw step.reason;
    if (written.status === 'rejected') {
      if (isPassing(written.reason)) throw written.reason;
      throw await this.#culprit(batch, events, written.reason);
    }
  }

  #understood(batch: EventBatch): StoredEvent[] {
    return batch.events.map((event) => {
      try {
        return understood(event);
      } catch (error) {
        throw new CannotApply(this.projection.name, event, error);
      }
    });
  }

  /** Which event it was: they are applied singly in a transaction that is rolled back. */
  async #culprit(batch: EventBatch, events: readonly StoredEvent[], reason: unknown): Promise<CannotApply> {
    const { projection, session } = this;
    let found: CannotApply | undefined;
    await session.query('begin');
    for (const [i, event] of events.entries()) {
      const recorded = batch.events[i];
      if (recorded === undefined || found !== undefined) break;
      await projection.project(session, projection.name, [event], 'serve').catch((error: unknown) => {
        found = new CannotApply(projection.name, recorded, error);
      });
    }
    await session.query('rollback');
    const [first] = batch.events;
    if (found !== undefined) return found;
    if (first === undefined) throw reason;
    return new CannotApply(projection.name, first, reason);
  }

  #holds(position: Position): void {
    this.#held = { ...this.#held, position };
    this.#beatenAt = performance.now();
  }
}
