/** The memory that long answers take until they are sent. */
import type { ServerResponse } from 'node:http';
import { AnswerBudget, type AnswerLimits } from '#src/shared/answer-budget.ts';
import { HeldMemory } from './held-memory.ts';

/** Limits on the memory of answers. */
export interface AnswerMemoryLimits {
  /** Limits of one answer. */
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
   * Returns the budget of an answer. Its bytes count until the response is sent or the client disconnects.
   * @param of the answer's owner, who gets at most a third of the memory, but at least one answer
   */
  budget(of: string, res: ServerResponse): AnswerBudget {
    return new AnswerBudget(this.limits.answer, true, this.#memory.hold(of, res));
  }
}
