/**
 * Sends news from one process to another. News that a request is waiting for is sent at once. The rest is sent together,
 * slightly later, so that a create costs one message in each direction, however many processes there are.
 */
import { BEGINNING, type Position, type WrittenBatch } from '../events/store.ts';
import type { News, Wanted } from './messages.ts';

/** How long news waits if no request is waiting for it, in ms. */
const LATER_MS = 50;
/** The maximum time that a request waits, in ms. */
const WAIT_MS = 15_000;

/** The exchange with one other process. */
export class Exchange {
  #batches: WrittenBatch[] = [];
  #wanted: Wanted[] = [];
  /** Positions that this process has already sent to the other process. */
  readonly #told = new Map<string, Position>();
  /** Positions that the other process's requests are waiting for, and the time until which they wait. */
  #awaited: (Wanted & { readonly until: number })[] = [];
  #isDue = false;
  #later: NodeJS.Timeout | undefined;

  /**
   * @param send sends news to the other process
   * @param passed the read models' positions that this process knows of
   */
  constructor(
    private readonly send: (news: News) => void,
    private readonly passed: ReadonlyMap<string, Position>,
  ) {}

  /** Hands over a batch. */
  give(batch: WrittenBatch, now: boolean): void {
    this.#batches.push(batch);
    this.#tell(now);
  }

  /** Tells the other process that a request in this process is waiting. */
  want(wanted: Wanted): void {
    this.#wanted.push(wanted);
    this.#tell(true);
  }

  /**
   * Notes that requests in the other process are waiting, if they wait for read models whose positions this process reports.
   */
  noteWanted(wanted: readonly Wanted[]): void {
    const now = performance.now();
    this.#awaited = this.#awaited.filter(({ until }) => until > now);
    for (const each of wanted)
      if (each.models.some((model) => this.passed.has(model)))
        this.#awaited.push({ ...each, until: now + WAIT_MS });
    this.moved();
  }

  /** Must be called when a read model has passed a position. */
  moved(): void {
    const left = this.#awaited.filter((wanted) => !this.#isReached(wanted));
    const isAwaited = left.length < this.#awaited.length;
    this.#awaited = left;
    this.#tell(isAwaited);
  }

  stop(): void {
    clearTimeout(this.#later);
  }

  /** Ignores the read models that other processes run, because those processes report the positions themselves. */
  #isReached({ models, position }: Wanted): boolean {
    return models.every(
      (model) => !this.passed.has(model) || (this.passed.get(model) ?? BEGINNING) >= position,
    );
  }

  #tell(now: boolean): void {
    if (!now) {
      this.#later ??= setTimeout(() => this.#flush(), LATER_MS).unref();
      return;
    }
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isDue = false;
    clearTimeout(this.#later);
    this.#later = undefined;
    const passed = [...this.passed].filter(([model, position]) => this.#told.get(model) !== position);
    const [batches, wanted] = [this.#batches, this.#wanted];
    if (passed.length + batches.length + wanted.length === 0) return;
    for (const [model, position] of passed) this.#told.set(model, position);
    this.#batches = [];
    this.#wanted = [];
    this.send({
      ...(batches.length > 0 && { batches }),
      ...(passed.length > 0 && { passed }),
      ...(wanted.length > 0 && { wanted }),
    });
  }
}
