/**
 * The state that all instances share, as in PostgreSQL: the log, read models, locks, Idempotency-Keys, snapshots, and notes
 * about late writes. Each method is one transaction.
 */
import type { Snapshot } from '#commands/command.ts';
import type { Entry } from '#src/events/snapshot-entries.ts';
import type { Position } from '#src/events/store.ts';
import type { Attempt, KeptAnswer } from '#src/shared/idempotency.ts';
import { MemoryLog } from './memory-log.ts';
import { ReadModels } from './read-models.ts';
import type { Flaws } from './weather.ts';

/** A row of `operations.idempotency`. */
export interface KeyRow {
  requestHash: string;
  readonly commandId: string;
  readonly millis: number;
  owner: string | undefined;
  leaseUntil: number;
  attempts: Map<string, Attempt>;
  answer: KeptAnswer | undefined;
}

/** How long the owner of a key is considered alive, in ms. */
const LEASE_MS = 10_000;

/** A database's tables. */
export class Database {
  readonly log: MemoryLog;
  readonly models: ReadModels;
  readonly late = new Map<string, Position>();
  /** Requests with an Idempotency-Key. */
  readonly keys = new Map<string, KeyRow>();
  /** Maps a lock to the sessions that hold it or wait for it, in order. */
  readonly #locks = new Map<string, { readonly session: object; readonly granted: () => void }[]>();
  readonly #ended = new WeakSet<object>();
  readonly #snapshots = new Map<string, Snapshot>();

  constructor(readonly flaws: Flaws) {
    this.log = new MemoryLog(flaws);
    this.models = new ReadModels(flaws.ignoresCheckpoints !== true);
  }

  /** Acquires a lock if it is free. */
  tryLock(session: object, key: string): boolean {
    if (this.#ended.has(session)) return false;
    const holder = this.#locks.get(key)?.[0];
    if (holder === undefined) this.#locks.set(key, [{ session, granted: () => undefined }]);
    return holder === undefined || holder.session === session;
  }

  /**
   * Waits for a lock.
   * @param granted called when the session has acquired the lock
   */
  lock(session: object, key: string, granted: () => void): void {
    if (this.#ended.has(session)) return;
    const queue = this.#locks.get(key) ?? [];
    queue.push({ session, granted });
    this.#locks.set(key, queue);
    if (queue.length === 1 || this.flaws.ignoresLocks === true) granted();
  }

  /** Ends a session, which releases its locks and cancels its waits. */
  endSession(session: object): void {
    this.#ended.add(session);
    for (const [key, queue] of this.#locks) {
      const left = queue.filter((each) => each.session !== session);
      if (left.length === 0) this.#locks.delete(key);
      else this.#locks.set(key, left);
      if (left[0] !== queue[0]) left[0]?.granted();
    }
  }

  noteLate(position: Position, models: readonly string[]): void {
    for (const model of models) if ((this.late.get(model) ?? '') < position) this.late.set(model, position);
  }

  /**
   * Reserves a key, like `src/operations/idempotency.ts`.
   * @returns undefined if the key already has an answer or an owner
   */
  reserve(
    key: string,
    now: number,
    fresh: Pick<KeyRow, 'requestHash' | 'commandId' | 'millis'> & { readonly owner: string },
  ): KeyRow | undefined {
    const row = this.keys.get(key) ?? {
      ...fresh,
      attempts: new Map(),
      answer: undefined,
      leaseUntil: 0,
      owner: undefined,
    };
    const isFree = row.owner === undefined || row.leaseUntil < now;
    if (row.answer !== undefined || row.requestHash !== fresh.requestHash || !isFree) return undefined;
    Object.assign(row, { owner: fresh.owner, leaseUntil: now + LEASE_MS });
    this.keys.set(key, row);
    return { ...row, attempts: new Map(row.attempts) };
  }

  /**
   * Changes a key's row, if the given owner still owns the key.
   * @returns whether the owner still owns the key
   */
  change(key: string, owner: string, change: Partial<KeyRow> | 'delete'): boolean {
    const row = this.keys.get(key);
    if (row?.owner !== owner) return false;
    if (change === 'delete') this.keys.delete(key);
    else Object.assign(row, change);
    return true;
  }

  /**
   * Notes an attempt, and renews the lease.
   * @returns whether the owner still owns the key
   */
  noteAttempt(key: string, owner: string, now: number, commandId: string, attempt: Attempt): boolean {
    const row = this.keys.get(key);
    if (row?.owner !== owner) return false;
    row.leaseUntil = now + LEASE_MS;
    if (this.flaws.ignoresNotes !== true) row.attempts.set(commandId, attempt);
    return true;
  }

  loadSnapshot(stream: string, ids: readonly string[]): Snapshot | undefined {
    const snapshot = this.#snapshots.get(stream);
    if (snapshot === undefined) return undefined;
    const entries = new Map([...snapshot.entries].filter(([id]) => ids.includes(id)));
    return { ...snapshot, entries };
  }

  saveSnapshot(
    stream: string,
    snapshot: Omit<Snapshot, 'entries'>,
    changed: ReadonlyMap<string, Entry>,
    since: number,
  ): boolean {
    const before = this.#snapshots.get(stream);
    if (since >= 0 && (before?.head.revision ?? -1) < since) return false;
    const entries = new Map(before?.entries);
    for (const [id, entry] of changed) {
      const known = entries.get(id);
      if (known === undefined || known.revision < entry.revision) entries.set(id, entry);
    }
    const newest = before !== undefined && before.head.revision >= snapshot.head.revision ? before : snapshot;
    this.#snapshots.set(stream, { ...newest, entries });
    return true;
  }

  forgetSnapshot(stream: string): void {
    this.#snapshots.delete(stream);
  }
}
