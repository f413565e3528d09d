/** The memory that long answers take until they are sent. */
import type { ServerResponse } from 'node:http';
import { AnswerBudget, type AnswerLimits } from '#src/shared/answer-budget.ts';
import { HeldMemory } from './held-memory.ts';

/** How much memory answers may take. */
export interface AnswerMemoryLimits {
  /** What one answer may hold. */
  readonly answer: AnswerLimits;
  /** Bytes of all together, beyond the first megabyte of each. */
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
   * The budget of an answer. What it holds is counted until the response is sent or its client gone.
   * @param of whose it is: a third of all, or one answer at least, is the most that one has.
   */
  budget(of: string, res: ServerResponse): AnswerBudget {
    return new AnswerBudget(this.limits.answer, true, this.#memory.hold(of, res));
  }
}
