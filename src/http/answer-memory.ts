/** The memory that long answers take until they are sent: of all together, and of one project. */
import type { ServerResponse } from 'node:http';
import { AnswerBudget, type AnswerLimits } from '#src/shared/answer-budget.ts';
import { unavailable } from '#src/shared/refusal.ts';

/** What every answer may hold without being counted. */
const FREE = 1_000_000;

/** How much memory answers may take. */
export interface AnswerMemoryLimits {
  /** What one answer may hold. */
  readonly answer: AnswerLimits;
  /** Bytes of all together, beyond the first megabyte of each. */
  readonly bytes: number;
}

/** Counts what the long answers of this process hold, so that slow readers cannot fill it. */
export class AnswerMemory {
  readonly #ofOne = new Map<string, number>();
  #held = 0;

  constructor(private readonly limits: AnswerMemoryLimits) {}

  /** Bytes that are counted now. */
  get held(): number {
    return this.#held;
  }

  /**
   * The budget of an answer. What it holds is counted until the response is sent or its client gone.
   * @param of whose it is: a third of all, or one answer at least, is the most that one has.
   */
  budget(of: string, res: ServerResponse): AnswerBudget {
    let counted = 0;
    return new AnswerBudget(this.limits.answer, true, (bytes) => {
      const more = bytes - FREE - counted;
      if (more <= 0) return;
      if (res.closed) throw unavailable('the client has closed the connection');
      this.#count(of, more);
      if (counted === 0) res.once('close', () => this.#count(of, -counted));
      counted += more;
    });
  }

  #count(of: string, bytes: number): void {
    const own = (this.#ofOne.get(of) ?? 0) + bytes;
    const { answer, bytes: most } = this.limits;
    if (bytes > 0 && (this.#held + bytes > most || own > Math.max(most / 3, answer.bytes)))
      throw unavailable('too many long answers are being sent; try again, or ask for less at a time', 2);
    this.#held += bytes;
    if (own > 0) this.#ofOne.set(of, own);
    else this.#ofOne.delete(of);
  }
}
