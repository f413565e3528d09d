/**
 * Limits the size of an answer, the time to read it, and the memory that long bodies and answers take up until their requests
 * are finished. Each request has one budget, which its pages, operations and Bundle entries share.
 */

import type { ServerResponse } from 'node:http';
import { Refusal, unavailable } from '../refusal.ts';
import { Usage } from './admission.ts';

interface AnswerLimits {
  /** Bytes of the answer's resources, as stored. */
  readonly bytes: number;
  readonly resources: number;
  /** Time for reading the resources, in ms. */
  readonly ms: number;
}

/** The default limits. */
export const ANSWER_LIMITS: AnswerLimits = { bytes: 50_000_000, resources: 20_000, ms: 60_000 };

/**
 * Reports an answer's total number of bytes whenever it grows.
 * @throws Refusal unavailable (503) if no memory is available
 */
type HoldBytes = (bytes: number) => void;

/** The budget for an answer, or for a part of one. */
export class AnswerBudget {
  #bytes = 0;
  #resources = 0;
  readonly #until: number;

  /**
   * @param limits on this answer; `ms` is measured from now
   * @param shortens true: a page that doesn't fit ends earlier and links to the rest; false: such a page is refused
   * @param hold reserves memory in the process
   * @param whole the budget that this budget is a part of
   */
  constructor(
    readonly limits: AnswerLimits = ANSWER_LIMITS,
    readonly shortens = true,
    private readonly hold?: HoldBytes,
    private readonly whole?: AnswerBudget,
  ) {
    this.#until = whole === undefined ? performance.now() + limits.ms : whole.#until;
  }

  get bytesLeft(): number {
    return Math.max(0, this.limits.bytes - this.#bytes);
  }

  get resourcesLeft(): number {
    return Math.max(0, this.limits.resources - this.#resources);
  }

  /**
   * Counts resources in the answer.
   * @throws Refusal too_large (413, `too-costly`) beyond the limits; unavailable (503) if the process already uses too much
   *   memory
   */
  take(bytes: number, resources = 1): void {
    this.requireRoom(bytes, resources);
    this.whole?.take(bytes, resources);
    this.hold?.(this.#bytes + bytes);
    this.#bytes += bytes;
    this.#resources += resources;
  }

  /**
   * Checks that there is room, without counting anything.
   * @throws the same Refusal as `take`, except unavailable
   */
  requireRoom(bytes: number, resources = 1): void {
    const { limits } = this;
    if (performance.now() > this.#until) throw tooCostly(`takes longer than ${limits.ms / 1_000} s to read`);
    if (this.#bytes + bytes > limits.bytes) throw this.exceeded('bytes');
    if (this.#resources + resources > limits.resources) throw this.exceeded('resources');
    this.whole?.requireRoom(bytes, resources);
  }

  /** Returns the refusal for exceeding a limit. The budget of a part returns the refusal for the whole answer's limit. */
  exceeded(unit: 'bytes' | 'resources'): Refusal {
    if (this.whole === undefined) return tooCostly(`would exceed ${counted(this.limits[unit])} ${unit}`);
    let { whole } = this;
    while (whole.whole !== undefined) whole = whole.whole;
    return refusal(
      `the answers of this Bundle together would exceed ${counted(whole.limits[unit])} ${unit}`,
      'with fewer entries, _count',
    );
  }

  /**
   * Counts the first rows of a page, as many as fit.
   * @param sizes in bytes
   * @returns how many rows fit: all of them or, if pages are shortened, at least one
   * @throws the same Refusal as `take`
   */
  takeRows(sizes: readonly number[]): number {
    const room = this.bytesLeft;
    let sum = 0;
    let count = 0;
    for (const size of sizes) {
      if (sum + size > room || count >= this.resourcesLeft) break;
      sum += size;
      count += 1;
    }
    if (count < sizes.length && (count === 0 || !this.shortens)) {
      const all = sizes.reduce((total, size) => total + size, 0);
      this.take(all, sizes.length);
    }
    this.take(sum, count);
    return count;
  }

  /**
   * Returns the budget for a Bundle entry. The entry counts against the budget of the whole answer, and its pages are not
   * shortened.
   */
  part(limits: Pick<AnswerLimits, 'bytes' | 'resources'>): AnswerBudget {
    return new AnswerBudget({ ...limits, ms: this.limits.ms }, false, undefined, this);
  }

  /**
   * Replaces the number of bytes counted so far.
   * @throws the same Refusal as `take`; nothing is counted in that case
   */
  settle(bytes: number): void {
    const resources = this.#resources;
    this.giveBack();
    this.take(bytes, resources);
  }

  /** Subtracts what was counted, because it won't be in the answer after all. */
  giveBack(): void {
    this.whole?.return(this.#bytes, this.#resources);
    this.#bytes = 0;
    this.#resources = 0;
  }

  private return(bytes: number, resources: number): void {
    this.#bytes -= bytes;
    this.#resources -= resources;
    this.whole?.return(bytes, resources);
  }
}

/** Returns whether an error means that an answer would be too large or too slow. */
export function isTooCostly(error: unknown): boolean {
  return error instanceof Refusal && error.issues.some(({ code }) => code === 'too-costly');
}

/**
 * Returns the refusal (413) for an answer that is too large or too slow.
 * @param does the end of the refusal's sentence, such as `would exceed 5 bytes`
 */
export function tooCostly(does: string): Refusal {
  return refusal(`the answer ${does}`, 'with _count');
}

function refusal(fault: string, example: string): Refusal {
  return new Refusal('too_large', {
    code: 'too-costly',
    diagnostics: `${fault}; ask for less, for example ${example}, _type, _elements or a narrower search`,
  });
}

/** Returns a number with separators: `20,000`. */
const counted = (count: number): string => count.toLocaleString('en-US');

/** The bytes that every request may use without being counted. */
const FREE = 1_000_000;

/**
 * Reserves memory for the number of bytes that a request has taken up so far.
 * @param inAll how many bytes the request will take up in total, if known; all of them are counted once the first megabyte has
 *   arrived
 * @throws Refusal unavailable (503) if no memory for more bytes is available
 */
export type Hold = (bytes: number, inAll?: number) => void;

/** The memory limits for requests. */
interface MemoryLimits {
  /** The maximum number of bytes for all requests, not counting the first megabyte of each. */
  readonly bytes: number;
  /** The number of bytes that a single request may need. A project gets a third of the total, but never less than this. */
  readonly largest: number;
  /** The error message when the limit is reached: what is wrong, and what to do. */
  readonly refusal: string;
}

/** Counts the memory that this process's requests take up, so that slow clients can't exhaust it. */
export class HeldMemory {
  readonly #usage: Usage;

  constructor(private readonly limits: MemoryLimits) {
    const { bytes, largest } = limits;
    this.#usage = new Usage({ total: bytes, ofOne: Math.max(bytes / 3, largest) });
  }

  /** Returns the number of bytes that are currently counted. */
  get held(): number {
    return this.#usage.used;
  }

  /**
   * Counts one request's memory until its response has been sent or its client has disconnected.
   * @param of the request's owner
   * @returns a function that also refuses if the client has disconnected
   */
  hold(of: string, res: ServerResponse): Hold {
    let counted = 0;
    return (bytes, inAll = 0) => {
      if (bytes <= FREE) return;
      const more = Math.max(bytes, inAll) - FREE - counted;
      if (more <= 0) return;
      if (res.closed) throw unavailable('the client has closed the connection');
      if (!this.#usage.take(of, more)) throw unavailable(this.limits.refusal, 2);
      if (counted === 0) res.once('close', () => this.#usage.give(of, counted));
      counted += more;
    };
  }
}

interface AnswerMemoryLimits {
  readonly answer: AnswerLimits;
  /** The maximum number of bytes for all answers, not counting the first megabyte of each. */
  readonly bytes: number;
}

/** Creates the budgets of answers, which count against the memory for all long answers in this process. */
export class AnswerMemory {
  readonly #memory: HeldMemory;

  constructor(private readonly limits: AnswerMemoryLimits) {
    this.#memory = new HeldMemory({
      bytes: limits.bytes,
      largest: limits.answer.bytes,
      refusal: 'the service is sending too many large answers; retry in a second, or ask for less',
    });
  }

  /**
   * Returns the budget for an answer. Its bytes count until the response has been sent or the client has disconnected.
   * @param of the answer's owner, who gets at most a third of the memory, but always enough for at least one answer
   */
  budget(of: string, res: ServerResponse): AnswerBudget {
    return new AnswerBudget(this.limits.answer, true, this.#memory.hold(of, res));
  }
}
