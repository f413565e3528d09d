/** The instances of one service: two processes on one machine, and one on another. They are killed and restarted. */
import type { Database } from './database.ts';
import { Instance } from './instance.ts';
import type { Request, Response } from './requests.ts';
import type { Surroundings } from './wire.ts';

/** Rejects a call whose outcome is unknown. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/** The machine on which each process runs. */
const MACHINES = [0, 0, 1] as const;

/** All instances. */
export class Cluster {
  /** Errors that a client would receive as a server error. */
  readonly faults: unknown[] = [];
  readonly #instances: (Instance | undefined)[] = [];
  /** Calls that each instance is answering, each with a function that ends the call without a response. */
  readonly #calls = new Map<Instance, Set<() => void>>();

  constructor(
    private readonly around: Surroundings,
    readonly database: Database,
    private readonly newUuid: () => string,
  ) {
    for (const place of MACHINES.keys()) this.start(place);
  }

  get instances(): readonly Instance[] {
    return this.#instances.filter((instance) => instance !== undefined);
  }

  /** Starts a process, unless one is already running at the given place. */
  start(place: number): void {
    if (this.#instances[place] !== undefined) return;
    const { around, database, newUuid } = this;
    const { time } = around;
    const instance = new Instance({
      ...{ around, database, newUuid },
      skewMs: Math.round((time.chance() - 0.5) * 4_000),
      notify: (from, name, position) => {
        for (const other of this.instances)
          if (other !== from && time.chance() >= around.weather.deaf)
            time.after(time.chance() * 5, () => other.hearOf(name, position));
      },
      onFault: (error) => this.faults.push(error),
    });
    for (const [other, there] of this.#instances.entries()) {
      if (there === undefined || MACHINES[other] !== MACHINES[place]) continue;
      instance.meet(there);
      there.meet(instance);
    }
    this.#instances[place] = instance;
    this.#calls.set(instance, new Set());
  }

  /** Kills a process, which is restarted some time later. */
  kill(place: number): void {
    const { time } = this.around;
    const instance = this.#instances[place];
    if (instance === undefined) return;
    this.#instances[place] = undefined;
    instance.kill();
    for (const end of this.#calls.get(instance) ?? []) end();
    this.#calls.delete(instance);
    time.after(20 + time.chance() * 2_000, () => this.start(place));
  }

  /**
   * Sends a request to one of the instances.
   * @throws NoAnswer if the connection breaks
   */
  call(request: Request): Promise<Response> {
    const { time, weather } = this.around;
    const there = time.chance() * 2;
    const back = time.chance() * 2;
    const isUnanswered = time.chance() < weather.unanswered;
    const place = Math.floor(time.chance() * MACHINES.length);
    return new Promise((resolve, reject) => {
      const end = (): void => reject(new NoAnswer('the connection broke'));
      time.after(there, () => {
        const instance = this.#instances[place];
        if (instance === undefined) return end();
        const calls = this.#calls.get(instance);
        calls?.add(end);
        void instance.answer(request).then((response) => {
          calls?.delete(end);
          time.after(back, () => (isUnanswered ? end() : resolve(response)));
        });
      });
    });
  }
}
