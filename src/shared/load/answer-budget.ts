/**
 * Limits on the size of one answer and on the time to read it, and on the memory that long bodies and answers take until
 * their requests are over. A request has one budget, which its pages, operations and Bundle entries share.
 */

import type { ServerResponse } from 'node:http';
import { Refusal, unavailable } from '../refusal.ts';
import { Usage } from './admission.ts';

interface AnswerLimits {
  /** Bytes of its resources, as stored. */
  readonly bytes: number;
  readonly resources: number;
  /** Time for reading them, in ms. */
  readonly ms: number;
}

/** The default limits. */
export const ANSWER_LIMITS: AnswerLimits = { bytes: 50_000_000, resources: 20_000, ms: 60_000 };

/**
 * Reports the total bytes of an answer whenever they grow.
 * @throws Refusal unavailable (503) when there is no memory left
 */
type HoldBytes = (bytes: number) => void;

/** The budget of an answer, or of a part of one. */
export class AnswerBudget {
  #bytes = 0;
  #resources = 0;
  readonly #until: number;

  /**
   * @param limits of this answer; `ms` counts from now
   * @param shortens true: a page that doesn't fit ends earlier and links to the rest; false: it is refused
   * @param hold reserves memory of the process
   * @param whole the budget that this is a part of
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
   * Counts resources of the answer.
   * @throws Refusal too_large (413, `too-costly`) beyond the limits, unavailable (503) when the process holds too much
   */
  take(bytes: number, resources = 1): void {
    this.requireRoom(bytes, resources);
    this.whole?.take(bytes, resources);
    this.hold?.(this.#bytes + bytes);
    this.#bytes += bytes;
    this.#resources += resources;
  }

  /**
   * Checks that there is room, without counting.
   * @throws Refusal as `take`, except unavailable
   */
  requireRoom(bytes: number, resources = 1): void {
    const { limits } = this;
    if (performance.now() > this.#until) throw tooCostly(`takes longer than ${limits.ms / 1_000} s to read`);
    if (this.#bytes + bytes > limits.bytes) throw this.exceeded('bytes');
    if (this.#resources + resources > limits.resources) throw this.exceeded('resources');
    this.whole?.requireRoom(bytes, resources);
  }

  /** Returns the refusal for exceeding a limit. For a part, it names the limit of the whole answer. */
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
   * @returns how many fit: all of them, or at least one if pages are shortened
   * @throws Refusal as `take`
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

  /** Returns the budget of a Bundle entry. It counts towards the whole answer, and its pages are not shortened. */
  part(limits: Pick<AnswerLimits, 'bytes' | 'resources'>): AnswerBudget {
    return new AnswerBudget({ ...limits, ms: this.limits.ms }, false, undefined, this);
  }

  /**
   * Replaces the bytes counted so far.
   * @throws Refusal as `take`; then nothing is counted
   */
  settle(bytes: number): void {
    const resources = this.#resources;
    this.giveBack();
    this.take(bytes, resources);
  }

  /** Removes the counted part: it isn't in the answer after all. */
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

/** Tells whether an error means that an answer would be too large or too slow. */
export function isTooCostly(error: unknown): boolean {
  return error instanceof Refusal && error.issues.some(({ code }) => code === 'too-costly');
}

/**
 * Returns the refusal (413) of an answer that is too large or too slow.
 * @param does the end of its sentence: `would exceed 5 bytes`
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
 * Takes how many bytes a request holds by now.
 * @param inAll how many it will hold, if that is known: all count once the first megabyte has arrived
 * @throws Refusal unavailable (503) when there is no memory for more
 */
export type Hold = (bytes: number, inAll?: number) => void;

/** The memory limits of requests. */
interface MemoryLimits {
  /** The maximum number of bytes of all requests, not counting the first megabyte of each. */
  readonly bytes: number;
  /** Bytes that one request may need: a project has a third of all, but never less than this. */
  readonly largest: number;
  /** The error message when the limit is reached: what is wrong, and what to do. */
  readonly refusal: string;
}

/** Counts the memory that requests of this process hold, so that slow clients cannot fill it. */
export class HeldMemory {
  readonly #usage: Usage;

  constructor(private readonly limits: MemoryLimits) {
    const { bytes, largest } = limits;
    this.#usage = new Usage({ total: bytes, ofOne: Math.max(bytes / 3, largest) });
  }

  /** Bytes that are counted now. */
  get held(): number {
    return this.#usage.used;
  }

  /**
   * Counts the memory of one request, until its response is sent or its client disconnects.
   * @param of the owner of the request.
   * @returns a function whose refusal also says that the client has disconnected
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
  /** The maximum number of bytes of all answers, not counting the first megabyte of each. */
  readonly bytes: number;
}

/** Gives answers budgets that count in the memory of all long answers of this process. */
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
   * Returns the budget of an answer. Its bytes count until the response is sent or the client disconnects.
   * @param of the answer's owner, who gets at most a third of the memory, but at least one answer
   */
  budget(of: string, res: ServerResponse): AnswerBudget {
    return new AnswerBudget(this.limits.answer, true, this.#memory.hold(of, res));
  }
}
