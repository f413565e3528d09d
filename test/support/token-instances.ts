/** Starts, calls and kills instances of the token operations. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { TokenWork } from './token-instance.ts';

const PROGRAM = fileURLToPath(new URL('token-instance.ts', import.meta.url));

const answerSchema = z.object({
  id: z.number(),
  result: z.unknown().optional(),
  error: z.string().optional(),
});

/** An operation's outcome; `lost` if its instance was killed before it answered. */
export type Outcome = { readonly result: unknown } | 'lost';

type Asked = TokenWork extends infer Work ? (Work extends { id: number } ? Omit<Work, 'id'> : never) : never;

/** An instance that is restarted after it has been killed. */
export class TokenInstance {
  #child: ChildProcess | undefined;
  #asked = 0;
  readonly #waiting = new Map<number, (outcome: Outcome) => void>();

  constructor(readonly databaseUrl: string) {}

  /** Runs an operation. */
  async ask(work: Asked): Promise<Outcome> {
    const child = await this.#running();
    // The process was killed while it was starting.
    if (child !== this.#child) return 'lost';
    this.#asked += 1;
    const id = this.#asked;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      child.send({ ...work, id }, () => undefined);
    });
  }

  /** Kills the process with SIGKILL; operations in progress are lost. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child !== undefined) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    for (const resolve of this.#waiting.values()) resolve('lost');
    this.#waiting.clear();
  }

  async #running(): Promise<ChildProcess> {
    if (this.#child !== undefined) return this.#child;
    const child = fork(PROGRAM, [], {
      execArgv: ['--import', 'tsx'],
      env: { ...process.env, TOKEN_DATABASE_URL: this.databaseUrl },
    });
    this.#child = child;
    await Promise.race([once(child, 'message'), once(child, 'exit')]);
    child.on('message', (message) => {
      const { id, result, error } = answerSchema.parse(message);
      if (error !== undefined) throw new Error(error);
      this.#waiting.get(id)?.({ result });
      this.#waiting.delete(id);
    });
    return child;
  }
}
