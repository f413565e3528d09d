/** Runs this repository's programs as separate processes that tests can watch and kill. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { dirname, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** The root folder of the repository. */
export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** A started program. */
export interface Program {
  readonly child: ChildProcess;
  /** Returns everything that the program has written so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves with the exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
  /**
   * Waits for a line on standard output that contains `text`.
   * @throws Error with the program's output if it exits first
   */
  line(text: string): Promise<string>;
}

/** Starts a command in the repository, with `env` as the only Annal settings. */
export function startProgram(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Program {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  let over = false;
  const ended = once(child, 'close').then(([code, signal]: (number | string)[]) => {
    over = true;
    return code ?? signal ?? '';
  });
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    async line(text) {
      for (;;) {
        const found = stdout
          .split('\n')
          .find((line, index, all) => index < all.length - 1 && line.includes(text));
        if (found !== undefined) return found;
        if (over) throw new Error(`it ended without saying "${text}":\n${stdout}${stderr}`);
        await Promise.race([once(child.stdout, 'data'), ended]);
      }
    },
  };
}

/** Runs `annal` in a process on a database, and returns its exit code and output. */
export async function runAnnal(
  databaseUrl: string,
  ...args: readonly string[]
): Promise<{ readonly code: number | string; readonly stdout: string; readonly stderr: string }> {
  const program = startProgram(process.execPath, ['bin/annal.js', ...args], { DATABASE_URL: databaseUrl });
  const code = await program.ended;
  return { code, stdout: program.stdout(), stderr: program.stderr() };
}

/** Returns the port on which a server listens. */
export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

/** Returns a TCP port on this machine that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Waits until a condition is true, checking every 20 ms or every `interval` milliseconds.
 * @throws Error if it doesn't become true within `limit` milliseconds
 */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  limit = 180_000,
  interval = 20,
): Promise<void> {
  for (const until = Date.now() + limit; Date.now() < until; await pause(interval)) {
    if (await condition()) return;
  }
  throw new Error(`it did not become true within ${limit} ms: ${condition}`);
}
