/** The pauses of projections that collect events. A pause ends as soon as a request waits for the projection. */
import { later } from '#src/events/position.ts';
import { BEGINNING, type Position } from '#src/events/store.ts';

/** A projection that pauses. */
interface Pause {
  readonly name: string;
  readonly end: () => void;
}

/** The pauses of one process. */
export class Pauses {
  readonly #pauses = new Set<Pause>();
  /** Positions that requests in other processes on this machine are waiting for. */
  readonly #wanted = new Map<string, Position>();

  /** @param passed returns the position that a projection has reached; undefined while it is unknown */
  constructor(private readonly passed: (name: string) => Position | undefined) {}

  /** Resolves after the given number of ms, or as soon as a request waits for the projection. */
  begin(name: string, ms: number): Promise<void> {
    if (this.#isWanted(name)) return Promise.resolve();
    return new Promise((resolve) => {
      const timeout = setTimeout(() => pause.end(), ms).unref();
      const pause: Pause = {
        name,
        end: () => {
          clearTimeout(timeout);
          this.#pauses.delete(pause);
          resolve();
        },
      };
      this.#pauses.add(pause);
    });
  }

  /** Records that a request in another process is waiting for a position. */
  want(name: string, position: Position): void {
    this.#wanted.set(name, later(this.#wanted.get(name) ?? BEGINNING, position));
    if (this.#isWanted(name)) this.end([name]);
  }

  /** Ends the given projections' pauses. */
  end(names: readonly string[]): void {
    for (const pause of [...this.#pauses]) if (names.includes(pause.name)) pause.end();
  }

  /** Ends all pauses, and forgets the positions that other processes are waiting for, because positions may have gone back. */
  clear(): void {
    this.#wanted.clear();
    for (const pause of [...this.#pauses]) pause.end();
  }

  #isWanted(name: string): boolean {
    const wanted = this.#wanted.get(name);
    return wanted !== undefined && wanted > (this.passed(name) ?? BEGINNING);
  }
}
