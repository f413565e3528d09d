/**
 * What one answer may hold, and how long it may take to read: one budget for a request, handed down to its pages,
 * operations and Bundle entries, so that none of them can go beyond it.
 */
import { Refusal } from './refusal.ts';

/** The most that one answer holds. */
export interface AnswerLimits {
  /** Bytes of the resources in it, as they are stored. */
  readonly bytes: number;
  readonly resources: number;
  /** How long reading them may take, in ms. */
  readonly ms: number;
}

/** What answers are limited to unless the settings say otherwise. */
export const ANSWER_LIMITS: AnswerLimits = { bytes: 50_000_000, resources: 20_000, ms: 60_000 };

/** Told how many bytes an answer holds in all, each time that grows. @throws Refusal unavailable (503) when there is no room */
export type HoldBytes = (bytes: number) => void;

/** The budget of an answer, or of a part of one. */
export class AnswerBudget {
  #bytes = 0;
  #resources = 0;
  readonly #until: number;

  /**
   * @param limits of this answer; `ms` counts from now.
   * @param shortens whether a page that doesn't fit ends earlier and links to the rest; else it is refused.
   * @param hold of the process's memory for answers.
   * @param whole the budget that this is a part of.
   */
  constructor(
    readonly limits: AnswerLimits = ANSWER_LIMITS,
    readonly shortens = true,
    private readonly hold?: HoldBytes,
    private readonly whole?: AnswerBudget,
  ) {
    this.#until = whole === undefined ? performance.now() + limits.ms : whole.#until;
  }

  /** Bytes that still fit. */
  get bytesLeft(): number {
    return Math.max(0, this.limits.bytes - this.#bytes);
  }

  /** Resources that still fit. */
  get resourcesLeft(): number {
    return Math.max(0, this.limits.resources - this.#resources);
  }

  /**
   * Counts resources that the answer will hold.
   * @throws Refusal too_large (413, `too-costly`) beyond the limits, unavailable (503) when the process holds too much
   */
  take(bytes: number, resources = 1): void {
    this.requireRoom(bytes, resources);
    this.whole?.take(bytes, resources);
    this.hold?.(this.#bytes + bytes);
    this.#bytes += bytes;
    this.#resources += resources;
  }

  /** Counts nothing, for what is to be read first. @throws Refusal as `take`, but for unavailable */
  requireRoom(bytes: number, resources = 1): void {
    const { limits } = this;
    if (performance.now() > this.#until) throw tooCostly(`takes longer than ${limits.ms / 1_000} s to read`);
    if (this.#bytes + bytes > limits.bytes) throw this.exceeded('bytes');
    if (this.#resources + resources > limits.resources) throw this.exceeded('resources');
    this.whole?.requireRoom(bytes, resources);
  }

  /** The refusal of what there is no room for. Of a part, too, it names the limit of the whole answer. */
  exceeded(unit: 'bytes' | 'resources'): Refusal {
    if (this.whole === undefined) return tooCostly(`would exceed ${counted(this.limits[unit])} ${unit}`);
    let { whole } = this;
    while (whole.whole !== undefined) whole = whole.whole;
    return refusal(
      `the answers of this Bundle together would hold more than ${counted(whole.limits[unit])} ${unit}`,
      'with fewer entries, _count',
    );
  }

  /**
   * Counts the rows of a page, from the first on, as far as they fit.
   * @param sizes in bytes.
   * @returns how many fit: all of them, or at least one where pages are shortened.
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

  /** The budget of an entry of a Bundle, which counts for the whole answer as well; its pages are not shortened. */
  part(limits: Pick<AnswerLimits, 'bytes' | 'resources'>): AnswerBudget {
    return new AnswerBudget({ ...limits, ms: this.limits.ms }, false, undefined, this);
  }

  /** Counts so many bytes in the place of those counted so far. @throws Refusal as `take`; then nothing is counted */
  settle(bytes: number): void {
    const resources = this.#resources;
    this.giveBack();
    this.take(bytes, resources);
  }

  /** What was counted is not part of the answer after all. */
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

/** Whether an error says that an answer would cost too much. */
export function isTooCostly(error: unknown): boolean {
  return error instanceof Refusal && error.issues.some(({ code }) => code === 'too-costly');
}

/** A 413 for an answer that would cost too much. @param does what, as the end of a sentence: `would exceed 5 bytes` */
export function tooCostly(does: string): Refusal {
  return refusal(`the answer ${does}`, 'with _count');
}

function refusal(fault: string, example: string): Refusal {
  return new Refusal('too_large', {
    code: 'too-costly',
    diagnostics: `${fault}: ask for less, for example ${example}, _type, _elements or a narrower search`,
  });
}

/** A number as people read it: `20,000`. */
const counted = (count: number): string => count.toLocaleString('en-US');
