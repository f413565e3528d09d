/** The memory that long bodies or answers take until their request is over: of all together, and of one project. */
import type { ServerResponse } from 'node:http';
import { Usage } from '#src/shared/load/admission.ts';
import { AnswerBudget, type AnswerLimits } from '#src/shared/load/answer-budget.ts';
import { unavailable } from '#src/shared/refusal.ts';

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
  /** Bytes of all together, beyond the first megabyte of each. */
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
