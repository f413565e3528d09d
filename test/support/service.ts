/** Runs the real service as a separate process: `bin/start.js` on a free port, with its own DATA_DIR. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findDatabase, readQuickstart, writeQuickstart } from '#src/data-dir.ts';
import { isObject, type Json, type JsonObject, parseJson } from '#src/shared/json/json.ts';
import { bundledProgram } from './bundled-program.ts';
import { NO_LIMIT } from './no-limit.ts';
import { copyPrepared } from './prepared.ts';
import { freePort, ROOT } from './process.ts';
import { caughtUp, EVENTSTORE_URL, foundProject } from './project.ts';
import { TEMPORARY } from './temporary.ts';
import './patience.ts';

/** Maximum time for a start, in ms. The first start creates a database cluster. */
const START_MS = 240_000;

/** Options for a service. */
export interface ServiceOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The DATA_DIR. By default, a new folder that has been filled by a first start and that `stop` removes. */
  readonly dataDir?: string;
  /** By default, the embedded PostgreSQL in the DATA_DIR is used. */
  readonly databaseUrl?: string;
  /** A TypeScript program to run instead of `bin/start.js`; it must also print `ready`. */
  readonly program?: string;
  /** The key to use if the DATA_DIR's quickstart.json doesn't contain one. */
  readonly key?: string;
  /** The port; by default, a free port. */
  readonly port?: number;
  /** Receives the lines that the service logs, as they are written. */
  readonly lines?: string[];
}

/** A request to the FHIR interface. */
export interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent unchanged; an object is sent as `application/fhir+json`. */
  readonly body?: string;
  /** The time after which the request is aborted; 120,000 ms by default. */
  readonly timeoutMs?: number;
}

/** A response with its whole body. */
export class Answer {
  constructor(
    readonly status: number,
    readonly headers: Headers,
    readonly text: string,
  ) {}

  /** Returns the body as JSON; decimals are kept as written. */
  get json(): JsonObject {
    const { value } = parseJson(this.text);
    if (!isObject(value)) throw new TypeError(`no JSON object: ${this.text.slice(0, 200)}`);
    return value;
  }

  /** Returns the version in the ETag. */
  get version(): number | undefined {
    const digits = /^W\/"(\d+)"$/.exec(this.headers.get('etag') ?? '')?.[1];
    return digits === undefined ? undefined : Number(digits);
  }

  /** Returns the status and the beginning of the body, for error messages. */
  toString(): string {
    return `${this.status} ${this.text.slice(0, 400)}`;
  }
}

/** A running service. */
export interface Service {
  /** The base URL, without a trailing slash. */
  readonly url: string;
  readonly key: string;
  readonly dataDir: string;
  readonly pid: number;
  /** Returns everything that the service has written to standard error so far. */
  log(): string;
  /**
   * Sends a request.
   * @param path below `/fhir/R4`, with a leading slash, or a whole URL (a `next` link)
   * @throws Error if there is no response
   */
  fhir(path: string, call?: Call): Promise<Answer>;
  /** Stops the service with SIGTERM, and removes the DATA_DIR unless it was given. Idempotent. */
  stop(): Promise<void>;
  /** Kills the service with SIGKILL. Its database keeps running until the next start on the DATA_DIR, or until `stop`. */
  kill(): Promise<void>;
}

/**
 * Starts a service and waits until it prints that it is ready.
 * @throws Error with the service's output if it doesn't become ready
 */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const dataDir = options.dataDir ?? (await (isAlone(options) ? startedDataDir() : newDataDir()));
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort());
    const started = await startOn(port, dataDir, options);
    if (typeof started !== 'string') return started;
    // Another process may have taken the port since the port was found to be free.
    if (attempt === 3 || !started.includes(`PORT ${port}`))
      throw new Error(`the service did not start: ${started}`);
  }
}

/** Returns a new folder that PostgreSQL's user can traverse. It is removed when the test process exits, or earlier. */
export async function newDataDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), TEMPORARY));
  await chmod(folder, 0o711);
  folders.add(folder);
  return folder;
}

/**
 * Returns a DATA_DIR in which a service was started and stopped once. If tests share a log, the folder is empty, because each
 * service has its own project.
 */
export async function startedDataDir(): Promise<string> {
  const folder = await newDataDir();
  if (!isAlone({})) return folder;
  await copyPrepared(folder, async (dataDir) => {
    const service = await startService({ dataDir });
    await service.stop();
  });
  return folder;
}

const isAlone = ({ databaseUrl, env, program }: ServiceOptions): boolean =>
  databaseUrl === undefined && program === undefined && (env?.EVENTSTORE_URL ?? EVENTSTORE_URL) === '';

async function startOn(port: number, dataDir: string, options: ServiceOptions): Promise<Service | string> {
  const known = options.key !== undefined || existsSync(join(dataDir, 'quickstart.json'));
  const program = options.program === undefined ? 'bin/start.js' : await bundledProgram(options.program);
  const child = spawn(process.execPath, [program], {
    cwd: ROOT,
    env: {
      ...process.env,
      LOG_LEVEL: 'warn',
      RATE_LIMIT_PER_MINUTE: NO_LIMIT,
      SANDBOX_PATIENTS: '0',
      WORKERS: process.env.WORKERS ?? '1',
      PRODUCTION_ACCESS: 'open',
      BASE_URL: `http://127.0.0.1:${port}`,
      ...options.env,
      PORT: String(port),
      DATA_DIR: dataDir,
      DATABASE_URL: options.databaseUrl ?? '',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  const errors = collect(child, 'stderr');
  const started = { child, dataDir };
  running.add(started);
  if (options.lines !== undefined) gatherLines(child, options.lines);
  const failure = await ready(child, errors);
  if (failure !== undefined) {
    child.kill('SIGKILL');
    running.delete(started);
    return failure;
  }
  const url = `http://127.0.0.1:${port}`;
  const shared = EVENTSTORE_URL !== '' && (options.env?.EVENTSTORE_URL ?? EVENTSTORE_URL) === EVENTSTORE_URL;
  // At a later start, the service's processes continue from where they were. Some tests keep them from continuing, so they
  // aren't waited for.
  if (shared) await caughtUp(url, !known);
  if (shared && !known) await takeProject(dataDir, options.databaseUrl);
  const key = options.key ?? (await readKey(dataDir));
  let stopped: Promise<void> | undefined;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  };
  return {
    url,
    key,
    dataDir,
    pid: child.pid ?? 0,
    log: errors,
    fhir: (path, call) => request(path.startsWith('http') ? path : `${url}/fhir/R4${path}`, key, call),
    kill: () => end('SIGKILL'),
    stop() {
      stopped ??= end('SIGTERM').then(async () => {
        running.delete(started);
        if (child.signalCode === 'SIGKILL') stopDatabase(dataDir);
        if (options.dataDir === undefined)
          await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
      });
      return stopped;
    },
  };
}

/**
 * Waits for the `ready` line.
 * @returns undefined if the line was printed, otherwise the reason why it wasn't
 */
async function ready(child: ChildProcess, errors: () => string): Promise<string | undefined> {
  const output = collect(child, 'stdout');
  const deadline = Date.now() + START_MS;
  const signal = AbortSignal.timeout(START_MS);
  while (!/ready/.test(output())) {
    if (child.exitCode !== null || child.signalCode !== null) return errors();
    if (Date.now() > deadline) return `not ready after ${START_MS} ms: ${errors()}`;
    await Promise.race([
      child.stdout === null ? undefined : once(child.stdout, 'data', { signal }),
      once(child, 'exit', { signal }),
    ]).catch(() => undefined);
  }
  return undefined;
}

function gatherLines({ stderr }: ChildProcess, lines: string[]): void {
  if (stderr !== null)
    createInterface({ input: stderr }).on('line', (line) => void (line.startsWith('{') && lines.push(line)));
}

function collect(child: ChildProcess, name: 'stdout' | 'stderr'): () => string {
  let text = '';
  child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-100_000);
  });
  return () => text;
}

/**
 * Creates a project for this service if the service uses a shared log, which also contains other services' quickstart
 * projects.
 */
async function takeProject(dataDir: string, databaseUrl: string | undefined): Promise<void> {
  const database = databaseUrl ?? (await findDatabase(dataDir));
  const quickstart = await readQuickstart(dataDir);
  if (database === undefined || quickstart === undefined) return;
  const { organization, project, key } = await foundProject(database);
  const own = { ...quickstart, organization_id: organization, project_id: project, sandbox_key: key };
  await writeQuickstart(dataDir, own);
}

async function readKey(dataDir: string): Promise<string> {
  const { value } = parseJson(await readFile(join(dataDir, 'quickstart.json'), 'utf8'));
  if (isObject(value) && typeof value.sandbox_key === 'string') return value.sandbox_key;
  throw new Error('quickstart.json has no sandbox_key');
}

async function request(url: string, key: string, call: Call = {}): Promise<Answer> {
  const response = await fetch(url, {
    method: call.method ?? 'GET',
    headers: {
      Authorization: `Bearer ${key}`,
      ...(call.body === undefined ? {} : { 'Content-Type': 'application/fhir+json' }),
      ...call.headers,
    },
    ...(call.body === undefined ? {} : { body: call.body }),
    signal: AbortSignal.timeout(call.timeoutMs ?? 120_000),
  });
  return new Answer(response.status, response.headers, await response.text());
}

/** Folders to remove when the test process exits. */
const folders = new Set<string>();

/** Running services. When the test process exits, they are stopped, and so is the database of a killed service. */
const running = new Set<{ readonly child: ChildProcess; readonly dataDir: string }>();

process.once('exit', () => {
  for (const { child, dataDir } of running) {
    child.kill('SIGKILL');
    stopDatabase(dataDir);
  }
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
});

/** Stops the PostgreSQL that a killed service left running. */
function stopDatabase(dataDir: string): void {
  try {
    const [pid] = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), 'SIGQUIT');
  } catch {
    // The database has already stopped, or isn't the embedded one.
  }
}

/**
 * Runs `annal <command> --json` on a service's DATA_DIR.
 * @returns the exit code and the output
 */
export async function annal(
  service: Pick<Service, 'dataDir'>,
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number; json: Json; output: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(ROOT, 'bin', 'annal.js'), ...command, '--json'],
      { cwd: ROOT, env: { ...process.env, ...env, DATA_DIR: service.dataDir }, maxBuffer: 50_000_000 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        resolve({ code, json: jsonIn(stdout), output: `${stdout}${stderr}` });
      },
    );
  });
}

function jsonIn(text: string): Json {
  try {
    return parseJson(text).value;
  } catch {
    return null;
  }
}
