/** The actual service: `bin/start.js` as a process that uses a database on the bench's server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.ts';
import type { Target } from './load/plan.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The options for starting the service. */
export interface ServiceOptions {
  readonly databaseUrl: string;
  /** The service's data folder. No other service uses it. */
  readonly dataDir: string;
  /** Node's. */
  readonly flags: readonly string[];
  /** Requests per minute; the default is higher than any load. */
  readonly rateLimit?: number;
  /** The number of patients in each new sandbox; by default, none. */
  readonly sandboxPatients?: number;
  /** Further settings. */
  readonly env?: Readonly<Record<string, string>>;
  /** The checkout that the service is started from; by default, this one. */
  readonly root?: string | undefined;
}

/** A running service. */
export class Service {
  private constructor(
    readonly target: Target & { readonly key: string },
    readonly pid: number,
    private readonly child: ChildProcess,
  ) {}

  /**
   * Starts the service and waits until it reports that it is ready.
   * @throws Error with the service's output if the service exits instead.
   */
  static async start({
    databaseUrl,
    dataDir,
    flags,
    rateLimit,
    sandboxPatients = 0,
    env = {},
    root = ROOT,
  }: ServiceOptions): Promise<Service> {
    const port = await freePort();
    const child = spawn(process.execPath, [...flags, join(root, 'bin/start.js')], {
      env: {
        ...process.env,
        PORT: String(port),
        HOST: '127.0.0.1',
        DATA_DIR: dataDir,
        DATABASE_URL: databaseUrl,
        LOG_LEVEL: 'warn',
        RATE_LIMIT_PER_MINUTE: String(rateLimit ?? 1_000_000_000),
        SANDBOX_PATIENTS: String(sandboxPatients),
        WORKERS: '1',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await ready(child, port);
    const quickstart = JSON.parse(await readFile(join(dataDir, 'quickstart.json'), 'utf8')) as {
      sandbox_key: string;
    };
    const { pid } = child;
    if (pid === undefined) throw new Error('the service did not start');
    return new Service({ host: '127.0.0.1', port, key: quickstart.sandbox_key }, pid, child);
  }

  /** Drains and stops the service. */
  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await ended;
  }

  /**
   * Sends one request outside of any load.
   * @throws Error for any status other than the expected one.
   */
  get request(): Request {
    return requestTo(this.target);
  }
}

/** Sends a request, checks its status, and returns the response. */
export type Request = (
  method: string,
  path: string,
  expect: number,
  body?: object,
) => Promise<{ text: string; location: string | null }>;

/** Returns a function that sends single requests to a service. */
export function requestTo({ host, port, key }: Target & { readonly key: string }): Request {
  return async (method, path, expect, body) => {
    const answer = await fetch(`http://${host}:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/fhir+json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (answer.status !== expect)
      throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 900)}`);
    return { text, location: answer.headers.get('location') };
  };
}

/** Waits until the service reports that it is ready and its read models have caught up with the log. */
async function ready(child: ChildProcess, port: number): Promise<void> {
  if (child.stdout === null) throw new Error('the service has no output');
  const lines = createInterface({ input: child.stdout });
  const said = new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      if (line.includes('ready')) resolve();
    });
  });
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the service ended with ${signal ?? code} before it was ready`);
  });
  await Promise.race([said, ended]);
  ended.catch(() => undefined);
  while (!(await fetch(`http://127.0.0.1:${port}/health/ready`)).ok) await pause(20);
}
