/** A separate Node process that answers calls over IPC. Load generators, baselines and subjects each run in such a process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

type Answer = { readonly id: number } & ({ readonly value: unknown } | { readonly error: string });

/** The caller's side of a worker. */
export class Worker {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (error: Error) => void }
  >();
  #calls = 0;

  private constructor(child: ChildProcess, name: string) {
    this.#child = child;
    child.on('message', (message) => this.#answered(message as Answer));
    child.on('exit', (code, signal) => {
      const error = new Error(`${name} ended by itself (${signal ?? code})`);
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    });
  }

  /**
   * Starts a script in `bench/` that calls `answer`. `name` is the script's path within `bench/`; `flags` are passed to Node.
   */
  static start(name: string, flags: readonly string[] = []): Worker {
    const script = fileURLToPath(new URL(name, import.meta.url));
    const child = spawn(process.execPath, [...flags, '--import', 'tsx', script], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    return new Worker(child, name);
  }

  /** Returns the worker's process id. */
  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error('the process did not start');
    return pid;
  }

  /**
   * Sends a message and returns the answer; the type of the answer isn't checked.
   * @throws Error with the script's message.
   */
  call<Asked, Answered>(message: Asked): Promise<Answered> {
    this.#calls += 1;
    const id = this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: (value) => resolve(value as Answered), reject });
      this.#child.send({ id, message }, (error) => {
        if (error !== null) this.#answered({ id, error: error.message });
      });
    });
  }

  /** Stops the process; its unfinished work is lost. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    if (this.#child.connected) this.#child.disconnect();
    await ended;
  }

  #answered(answer: Answer): void {
    const waiter = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('error' in answer) waiter?.reject(new Error(answer.error));
    else waiter?.resolve(answer.value);
  }
}

/** The worker's side: answers calls one at a time and exits when its parent exits. */
export function answer<Asked, Answered>(handle: (message: Asked) => Promise<Answered>): void {
  process.on('message', (call) => {
    const { id, message } = call as { id: number; message: Asked };
    handle(message).then(
      (value) => process.send?.({ id, value }),
      (error: unknown) =>
        process.send?.({
          id,
          error: error instanceof Error ? (error.stack ?? error.message) : String(error),
        }),
    );
  });
  process.on('disconnect', () => process.exit());
}
