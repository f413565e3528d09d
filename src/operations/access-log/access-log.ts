/**
 * Writes the access log in batches. Each instance writes one batch at a time, with one statement and one commit that waits for
 * the disk. Entries that arrive while a batch is being written form the next batch.
 */
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { isPassingInDatabase } from '#src/database/failure.ts';
import type { AccessEntry } from '#src/shared/access/access-entry.ts';
import type { GivenReceipt } from '#src/shared/access/receipt.ts';
import { type Refusal, unavailable } from '#src/shared/refusal.ts';
import { nameProgram } from '../receipts/program.ts';
import { makeReceiptRow, type ReceiptRow } from '../receipts/row.ts';
import { type ReadyEntry, readyEntry } from './columns.ts';
import { unwritten, writeEntries } from './write.ts';

/**
 * The maximum number of entries in a batch. The answer that reaches this limit may exceed it, because an answer is never
 * split.
 */
const BATCH = 1_000;
/** The maximum number of refused reads that may wait; if there are more, the newest are dropped. */
const WAITING = 10_000;
/** Pause before refused reads are retried, in ms. It is longer than the server continues to work on an abandoned statement. */
const AGAIN_MS = 2_000;

/** Entries that must be written before one answer is sent. */
interface Answer {
  readonly entries: readonly ReadyEntry[];
  readonly receipts: readonly ReceiptRow[];
  readonly settle: (refusal?: Refusal) => void;
}

/** Entries that are written together. */
interface Batch {
  readonly answers: readonly Answer[];
  /** Refused reads. */
  readonly notes: readonly ReadyEntry[];
  /** Refused reads from a batch that failed; some of them may have been written after all. */
  readonly unsure: readonly ReadyEntry[];
}

/** The access log, in PostgreSQL. */
export class AccessLogWriter {
  #answers: Answer[] = [];
  #notes: ReadyEntry[] = [];
  #unsure: ReadyEntry[] = [];
  #dropped = 0;
  #running: Promise<void> | undefined;
  #again: NodeJS.Timeout | undefined;
  #failing = false;

  /**
   * @param pool a separate pool, so that a batch never waits for other work
   */
  constructor(
    private readonly pool: Pool,
    private readonly log: Pick<Logger, 'warn' | 'error'>,
  ) {}

  /** The number of entries and receipts that have not yet been written. */
  get waiting(): number {
    const answers = this.#answers.reduce((sum, each) => sum + each.entries.length + each.receipts.length, 0);
    return answers + this.#notes.length + this.#unsure.length;
  }

  /**
   * The number of refused reads that will never be written, because too many were waiting or their record's chain is damaged.
   */
  get dropped(): number {
    return this.#dropped;
  }

  /**
   * Writes an answer's entries with their receipts; resolves when they are durable.
   * @param others receipts for answers that have no entry
   * @throws Refusal unavailable (503) if they can't be written, for example because a record has been erased
   */
  async written(entries: readonly AccessEntry[], others: readonly GivenReceipt[] = []): Promise<void> {
    if (entries.length + others.length === 0) return;
    const rows = makeRows(entries, others);
    const findReceipt = ({ receipt }: AccessEntry): string | undefined =>
      typeof receipt === 'string' ? receipt : receipt && rows.get(receipt)?.id;
    const ready = entries.map((entry) => readyEntry(entry, findReceipt(entry)));
    await this.#queue(ready, [...rows.values()]);
  }

  /**
   * Writes a receipt to which later entries refer; resolves when it is durable.
   * @returns its id
   * @throws the same as `written`
   */
  async given(receipt: GivenReceipt): Promise<string> {
    const row = makeReceiptRow(receipt, `${receipt.form}-${nameProgram()}`);
    await this.#queue([], [row]);
    return row.id;
  }

  async #queue(entries: readonly ReadyEntry[], receipts: readonly ReceiptRow[]): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#answers.push({
        entries,
        receipts,
        settle: (refusal) => (refusal === undefined ? resolve() : reject(refusal)),
      });
      this.#start();
    });
  }

  /** Adds the entry for a refused read to the next batch, without waiting. The entry is kept while the log can't be written. */
  note(entry: AccessEntry): void {
    if (this.#notes.length + this.#unsure.length < WAITING) this.#notes.push(readyEntry(entry));
    else this.#dropped += 1;
    this.#start();
  }

  /**
   * Writes the waiting entries; resolves when none are left, or when the log can't be written. No other method may be called
   * afterwards.
   */
  async close(): Promise<void> {
    for (let left = Number.POSITIVE_INFINITY; this.waiting > 0 && this.waiting < left; ) {
      left = this.waiting;
      this.#resume();
      await this.#running;
    }
    clearTimeout(this.#again);
    const lost = this.waiting;
    if (lost > 0) this.log.error({ entries: lost }, 'refused reads were not written to the access log');
  }

  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Ends the pause before refused reads are retried. */
  #resume(): void {
    clearTimeout(this.#again);
    this.#again = undefined;
    this.#start();
  }

  async #run(): Promise<void> {
    for (;;) {
      // All entries from one turn of the event loop go into one batch.
      await new Promise(setImmediate);
      const batch = this.#take();
      if (batch === undefined) return;
      await this.#write(batch);
    }
  }

  /** Takes the waiting entries in the order in which they arrived; undefined if there are none. */
  #take(): Batch | undefined {
    let [size, count] = [0, 0];
    for (const { entries, receipts } of this.#answers) {
      const own = entries.length + receipts.length;
      if (size > 0 && size + own > BATCH) break;
      size += own;
      count += 1;
    }
    const answers = this.#answers.splice(0, count);
    const paused = this.#again !== undefined;
    const notes = paused ? [] : this.#notes.splice(0, BATCH);
    const unsure = paused ? [] : this.#unsure.splice(0, BATCH);
    return answers.length + notes.length + unsure.length === 0 ? undefined : { answers, notes, unsure };
  }

  async #write(batch: Batch): Promise<void> {
    const { answers, notes, unsure } = batch;
    try {
      const again = unsure.length === 0 ? [] : await unwritten(this.pool, unsure);
      const entries = [...again, ...notes, ...answers.flatMap((answer) => answer.entries)];
      const receipts = answers.flatMap((answer) => answer.receipts);
      const erased = await writeEntries(this.pool, entries, receipts);
      this.#failing = false;
      for (const answer of answers) {
        const gone = [...answer.entries, ...answer.receipts].some(({ record }) => erased.has(record));
        answer.settle(
          gone ? unavailable('a record was removed while it was read; repeat the request') : undefined,
        );
      }
    } catch (error) {
      const parts = isPassingInDatabase(error) ? [] : splitBatch(batch);
      if (parts.length > 1) for (const part of parts) await this.#write(part);
      else this.#failed(batch, error);
    }
  }

  #failed({ answers, notes, unsure }: Batch, error: unknown): void {
    if (!this.#failing) this.log.error({ err: error }, "the access log can't be written; reads return 503");
    this.#failing = true;
    for (const answer of answers)
      answer.settle(unavailable("the access log can't be written, so nothing is shown; retry in a second"));
    if (isPassingInDatabase(error)) {
      this.#unsure = [...unsure, ...notes, ...this.#unsure];
      this.#again ??= setTimeout(() => this.#resume(), AGAIN_MS).unref();
    } else this.#dropped += notes.length + unsure.length;
  }
}

/** Returns the rows for receipts, each receipt once. */
function makeRows(
  entries: readonly AccessEntry[],
  others: readonly GivenReceipt[],
): ReadonlyMap<GivenReceipt, ReceiptRow> {
  const given = [
    ...entries.flatMap(({ receipt = '' }) => (typeof receipt === 'string' ? [] : [receipt])),
    ...others,
  ];
  return new Map(given.map((each) => [each, makeReceiptRow(each, `${each.form}-${nameProgram()}`)]));
}

/** Splits a batch into the smallest possible parts, so that a fault in one record's log affects only that record's entries. */
function splitBatch({ answers, notes, unsure }: Batch): Batch[] {
  const nothing = { answers: [], notes: [], unsure: [] };
  return [
    ...answers.map((answer) => ({ ...nothing, answers: [answer] })),
    ...notes.map((note) => ({ ...nothing, notes: [note] })),
    ...unsure.map((note) => ({ ...nothing, unsure: [note] })),
  ];
}
