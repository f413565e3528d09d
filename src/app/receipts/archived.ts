/**
 * Runs the renderers of other program versions, each in its own process, which can neither read files nor connect to anything.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import type { Renderers } from '#src/operations/receipts/renderers.ts';
import { InputGone, type Material } from '#src/receipts/material.ts';

const SANDBOX = readFileSync(new URL('./sandbox.js', import.meta.url), 'utf8');

/**
 * The Node.js option that enables the permission model; no permissions are granted. Versions before 22.13 call it
 * experimental.
 */
const PERMISSION = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission';

/** Memory limit for each process, in MB. */
const MEMORY = '--max-old-space-size=512';

const answer = z.union([z.object({ bytes: z.base64() }), z.object({ error: z.string(), name: z.string() })]);

/** The processes of archived renderers, one per program version. */
export class ArchivedRenderers {
  readonly #running = new Map<string, ArchivedRenderer | undefined>();

  constructor(private readonly renderers: Pick<Renderers, 'find'>) {}

  /**
   * Generates an answer with a program version's renderer; undefined if that renderer isn't archived.
   * @throws InputGone; Error if the renderer fails
   */
  async render(program: string, material: Material): Promise<Buffer | undefined> {
    if (!this.#running.has(program)) {
      const code = await this.renderers.find(program);
      this.#running.set(program, code === undefined ? undefined : new ArchivedRenderer(code));
    }
    return this.#running.get(program)?.render(material);
  }

  /** Ends the processes. */
  close(): void {
    for (const each of this.#running.values()) each?.close();
    this.#running.clear();
  }
}

class ArchivedRenderer {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(code: string) {
    this.#child = spawn(process.execPath, [PERMISSION, '--no-warnings', MEMORY, '-e', SANDBOX], {
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#child.stdin.on('error', () => undefined);
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.#child.stdin.write(`${JSON.stringify(code)}\n`);
  }

  /** Generates an answer; answers are generated one after another. */
  render(material: Material): Promise<Buffer> {
    const rendered = this.#last.then(() => this.#ask(material));
    this.#last = rendered.catch(() => undefined);
    return rendered;
  }

  close(): void {
    this.#child.kill('SIGKILL');
  }

  async #ask(material: Material): Promise<Buffer> {
    this.#child.stdin.write(`${JSON.stringify(material)}\n`);
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('the archived renderer ended without an answer');
    const made = answer.parse(JSON.parse(value));
    if ('bytes' in made) return Buffer.from(made.bytes, 'base64');
    throw made.name === 'InputGone' ? new InputGone(made.error) : new Error(made.error);
  }
}
