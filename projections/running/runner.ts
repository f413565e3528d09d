/**
 * Runs projections while this instance is elected for them: reads batches and writes rows and checkpoints. A runner's
 * projections are written in one transaction.
 */
import { setImmediate } from 'node:timers/promises';
import type pg from 'pg';
import type { QueryConfig } from 'pg';
import { OneTransaction } from '#src/database/one-transaction.ts';
import type { StoredEvent } from '#src/events/catalog.ts';
import { BEGINNING, type EventBatch, type Position, type RecordedEvent } from '#src/events/store.ts';
import { inSlices } from '#src/shared/load/slices.ts';
import { eraseFromAbandoned } from '../abandoned.ts';
import { advancing, type Checkpoint, movedOr } from '../checkpoint.ts';
import { CannotApply, isPassing } from '../failure.ts';
import { isErasure } from '../owner.ts';
import { decodeOnce, forgetParsed, ownEvents } from '../parsed.ts';
import type { Kept, Projection } from '../projection.ts';
import { inTransaction } from '../session.ts';

/** How often a heartbeat is sent while the runner is idle, in ms. */
const HEARTBEAT_MS = 1_000;
/** Number of events for which statements are built together. */
const SLICE = 200;

/** One of a runner's projections. */
interface Member {
  readonly projection: Projection;
  /** The checkpoint as stored in its row. */
  held: Checkpoint;
  /** The current position, which may be ahead of `held` because of events that the projection doesn't process. */
  position: Position;
}

/** A projection, and the position to which its checkpoint is moved. */
type Move = readonly [member: Member, position: Position];

/** The part of a batch that a projection processes. */
interface Work {
  readonly member: Member;
  readonly recorded: readonly RecordedEvent[];
}

/** Writes the projections' rows on one session. Calls to its methods must not overlap, except for `tick`. */
export class Runner {
  readonly #transaction: OneTransaction;
  readonly #members: readonly Member[];
  #beatenAt = 0;
  /** The time since which some projections have been ahead of others; undefined if none is ahead. */
  #unequalSince: number | undefined;
  #beating: Promise<void> = Promise.resolve();
  #busy = false;
  /** True while statements are being built, which may take long; in the meantime the session is free for heartbeats. */
  #isPreparing = false;

  /**
   * @param session a session that is elected for all the projections
   * @param elected projections, with their checkpoints as read on that session
   * @param passed called with each position that a projection reaches, as soon as reads see it
   * @param tell returns true if other instances must be notified
   * @param kept rows maintained on request, for a projection that runs on its own
   */
  constructor(
    private readonly session: pg.Client,
    elected: ReadonlyMap<Projection, Checkpoint>,
    private readonly passed: (projection: string, position: Position) => void,
    private readonly tell: () => boolean,
    private readonly kept?: Kept,
  ) {
    this.#transaction = new OneTransaction(session);
    this.#members = [...elected].map(([projection, held]) => ({ projection, held, position: held.position }));
  }

  /** Returns the position that every projection has reached. */
  get position(): Position {
    const [first = BEGINNING, ...others] = this.#members.map(({ position }) => position);
    return others.reduce((least, each) => (each < least ? each : least), first);
  }

  /** Returns for how many ms some projections have been waiting for others to catch up. */
  get waited(): number {
    return this.#unequalSince === undefined ? 0 : performance.now() - this.#unequalSince;
  }

  /**
   * Applies one batch. A projection that is ahead of the others processes only the events in the batch that are after its own
   * position.
   * @throws CannotApply naming the event at fault; CheckpointMoved; connection errors. Nothing is written in these cases.
   */
  async apply(batch: EventBatch): Promise<void> {
    await this.#beating;
    this.#busy = true;
    try {
      if (this.kept?.isDue === true) await this.kept.take();
      const behind = this.#members.filter(({ position }) => position < batch.position);
      if (behind.length === this.#members.length) this.#unequalSince = undefined;
      else this.#unequalSince ??= performance.now();
      const works = behind.map((member) => ({ member, recorded: take(member, batch.events) }));
      // If there are no events, `tick` moves the checkpoint.
      const filled = works.filter(({ recorded }) => recorded.length > 0);
      if (filled.length > 0) await this.#write(filled, batch.position);
      for (const member of behind) member.position = batch.position;
      for (const { projection } of behind) this.passed(projection.name, batch.position);
    } finally {
      this.#busy = false;
    }
  }

  /**
   * Maintains the runner. Sends a heartbeat every second, even while a batch's statements are being built. Between batches,
   * moves the checkpoints past events that the projections don't process, and starts maintaining rows that were requested.
   * @throws CheckpointMoved; connection errors
   */
  async tick(): Promise<void> {
    const due = performance.now() - this.#beatenAt >= HEARTBEAT_MS;
    const isNoted = this.#members.every(({ position, held }) => position === held.position);
    if (this.#busy ? !this.#isPreparing || !due : !due && isNoted && this.kept?.isDue !== true) return;
    const moves = this.#members.map((member): Move => [member, member.position]);
    const beating = this.#busy ? this.#advance(moves, []) : this.#beat(moves);
    this.#beating = beating.catch(() => undefined);
    await beating;
  }

  async #beat(moves: readonly Move[]): Promise<void> {
    if (this.kept?.isDue === true) await this.kept.take();
    await this.#advance(moves, []);
  }

  async #write(works: readonly Work[], position: Position): Promise<void> {
    const { session } = this;
    const statements: QueryConfig[] = [];
    for (const { member, recorded } of works) {
      const { projection } = member;
      const prepared = await this.#prepare(projection, recorded);
      if (prepared.events.some(isErasure)) {
        forgetParsed();
        await inTransaction(session, () => eraseFromAbandoned(session, projection, prepared.events));
      }
      for (const statement of prepared.statements) statements.push(statement);
    }
    try {
      await this.#advance(
        works.map(({ member }) => [member, position]),
        statements,
      );
    } catch (error) {
      throw isPassing(error) ? error : await this.#culprit(works, error);
    }
  }

  /**
   * Builds a batch's statements while sending heartbeats. When it returns, no heartbeat is using the session.
   * @throws CannotApply
   */
  async #prepare(projection: Projection, recorded: readonly RecordedEvent[]): ReturnType<typeof prepare> {
    this.#isPreparing = true;
    try {
      return await prepare(projection, this.kept, recorded);
    } finally {
      this.#isPreparing = false;
      await this.#beating;
    }
  }

  /**
   * Writes checkpoints and rows in one transaction and one round trip.
   * @throws CheckpointMoved; database errors
   */
  async #advance(moves: readonly Move[], statements: readonly QueryConfig[]): Promise<void> {
    const tell = this.tell();
    const checkpoints = moves.map(([{ projection, held }, position]) =>
      advancing(projection.name, held, position, tell),
    );
    try {
      await this.#transaction.run([...checkpoints, ...statements]);
    } catch (error) {
      throw movedOr(
        error,
        moves.map(([{ projection }]) => projection.name),
      );
    }
    for (const [member, position] of moves) member.held = { ...member.held, position };
    this.#beatenAt = performance.now();
  }

  /** Finds the event that the tables reject, by applying events one by one in a transaction that is rolled back. */
  async #culprit(works: readonly Work[], reason: unknown): Promise<CannotApply> {
    const { session } = this;
    await session.query('begin');
    try {
      for (const { member, recorded } of works) {
        const { name } = member.projection;
        for (const each of recorded) {
          try {
            // Statements have no names here, because `#transaction` has prepared statements with those names.
            for (const { text, values } of member.projection.statements(name, [decodeOnce(each)]))
              await session.query(text, values);
          } catch (error) {
            return new CannotApply(name, each, error);
          }
        }
      }
    } finally {
      await session.query('rollback');
    }
    throw reason;
  }
}

/** Returns those of the batch's events that a projection still has to process. */
function take({ projection, position }: Member, events: readonly RecordedEvent[]): readonly RecordedEvent[] {
  const [first] = events;
  const later =
    first !== undefined && first.position <= position
      ? events.filter((event) => event.position > position)
      : events;
  return ownEvents(projection, later);
}

/**
 * Decodes a batch and builds its statements in slices, so that other requests can run in between; an append may have thousands
 * of events.
 * @throws CannotApply naming the event at fault
 */
async function prepare(
  projection: Projection,
  kept: Kept | undefined,
  batch: readonly RecordedEvent[],
): Promise<{ events: readonly StoredEvent[]; statements: readonly QueryConfig[] }> {
  const { name } = projection;
  const events: StoredEvent[] = [];
  const statements: QueryConfig[] = [];
  for (let from = 0; from < batch.length; from += SLICE) {
    if (from > 0) await setImmediate();
    const recorded = batch.slice(from, from + SLICE);
    const understoodOnes = recorded.map((event) => attempt(name, event, () => decodeOnce(event)));
    for (const event of understoodOnes) events.push(event);
    for (const statement of await makeStatements(projection, kept, recorded, understoodOnes))
      statements.push(statement);
  }
  return { events, statements };
}

/**
 * Returns the statements for events; if their rows exceed a statement's limit, builds each half separately.
 * @throws CannotApply
 */
async function makeStatements(
  projection: Projection,
  kept: Kept | undefined,
  recorded: readonly RecordedEvent[],
  events: readonly StoredEvent[],
): Promise<readonly QueryConfig[]> {
  const { name } = projection;
  const [first] = recorded;
  if (first === undefined) return [];
  try {
    const steps = (kept ?? projection).inSteps?.(name, events);
    return steps === undefined ? projection.statements(name, events) : await inSlices(steps);
  } catch (error) {
    if (recorded.length === 1) throw new CannotApply(name, first, error);
    const half = recorded.length >> 1;
    return [
      ...(await makeStatements(projection, kept, recorded.slice(0, half), events.slice(0, half))),
      ...(await makeStatements(projection, kept, recorded.slice(half), events.slice(half))),
    ];
  }
}

function attempt<T>(name: string, event: RecordedEvent, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new CannotApply(name, event, error);
  }
}
