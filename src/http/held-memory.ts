/** The memory that long bodies or answers take until their request is over: of all together, and of one project. */
import type { ServerResponse } from 'node:http';
import { unavailable } from '#src/shared/refusal.ts';

/** What every request may hold without being counted, in bytes. */
const FREE = 1_000_000;

/** Takes how many bytes a request holds by now. @throws Refusal unavailable (503) when there is no memory for more */
export type Hold = (bytes: number) => void;

/** How much memory requests may hold. */
export interface MemoryLimits {
  /** Bytes of all together, beyond the first megabyte of each. */
  readonly bytes: number;
  /** Bytes that one request may need: a project has a third of all, but never less than this. */
  readonly largest: number;
  /** What a client is told when there is no more: what is wrong, and what to do. */
  readonly refusal: string;
}

/** Counts what requests of this process hold, so that slow clients cannot fill it. */
export class HeldMemory {
  readonly #ofOne = new Map<string, number>();
  #held = 0;

  constructor(private readonly limits: MemoryLimits) {}

  /** Bytes that are counted now. */
  get held(): number {
    return this.#held;
  }

  /**
   * Counts for one request, until its response is sent or its client gone.
   * @param of whose request it is.
   * @returns a function that takes how many bytes the request holds by now; it throws Refusal unavailable (503) when there
   * is no more memory, or nobody left to answer.
   */
  hold(of: string, res: ServerResponse): Hold {
    let counted = 0;
    return (bytes) => {
      const more = bytes - FREE - counted;
      if (more <= 0) return;
      if (res.closed) throw unavailable('the client has closed the connection');
      this.#count(of, more);
      if (counted === 0) res.once('close', () => this.#count(of, -counted));
      counted += more;
    };
  }

  #count(of: string, bytes: number): void {
    const own = (this.#ofOne.get(of) ?? 0) + bytes;
    const { largest, bytes: most, refusal } = this.limits;
    if (bytes > 0 && (this.#held + bytes > most || own > Math.max(most / 3, largest)))
      throw unavailable(refusal, 2);
    this.#held += bytes;
    if (own > 0) this.#ofOne.set(of, own);
    else this.#ofOne.delete(of);
  }
}
