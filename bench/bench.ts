/**
 * The environment for the measurements: one PostgreSQL server for both the baseline and what is measured, and the services,
 * workers, sizes and memory.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#src/database/embedded.ts';
import type { Outcome, Plan } from './load/plan.ts';
import { Memory, type MemoryUse } from './memory.ts';
import type { Options } from './options.ts';
import { Service, type ServiceOptions } from './service.ts';
import { Worker } from './worker.ts';

/** A service, and the options with which it was started. */
interface Started {
  readonly service: Service;
  readonly databaseUrl: string;
  readonly dataDir: string;
  stop(): Promise<unknown>;
}

/** The data and options with which to start a service. */
type Before = Partial<Pick<Started, 'databaseUrl' | 'dataDir'>> &
  Pick<ServiceOptions, 'rateLimit' | 'sandboxPatients' | 'env'>;

/** A service that is being measured. */
export interface MeasuredService extends Started {
  /** Stops the service, and returns its memory use. */
  stop(): Promise<MemoryUse>;
}

/** One run of the bench. */
export class Bench {
  readonly memory = new Memory();
  readonly #ends: (() => Promise<unknown>)[] = [];
  #names = 0;
  #common: Promise<Started> | undefined;
  #generator: Worker | undefined;

  private constructor(
    readonly options: Options,
    readonly folder: string,
    readonly server: EmbeddedPostgres,
    readonly say: (text: string) => void,
    private readonly root?: string,
  ) {}

  /**
   * Starts PostgreSQL in a temporary folder, with the same settings as the service's embedded server, so commits are durable.
   * @param root the checkout whose service is measured; default: this checkout
   */
  static async start(options: Options, say: (text: string) => void, root?: string): Promise<Bench> {
    const folder = await mkdtemp(join(tmpdir(), 'annal-bench-'));
    // The user as whom PostgreSQL runs must be able to reach the cluster.
    await chmod(folder, 0o711);
    const server = await startEmbeddedPostgres({ dataDir: folder });
    return new Bench(options, folder, server, say, root);
  }

  /** Returns a size, adjusted to the run's scale, but at least `least`. */
  size(full: number, least = 1): number {
    return Math.max(least, Math.round(full * this.options.scale));
  }

  /** Returns a number of seconds, adjusted to the run's scale. */
  seconds(full: number): number {
    return Math.max(0.2, full * this.options.scale);
  }

  /**
   * Returns the length of a warm-up. It is a number of requests rather than a time, because JIT compilers optimize after a
   * number of calls, however slow the machine is.
   */
  warmUp(requests = 15_000): { readonly count: number } {
    return { count: this.size(requests, 4) };
  }

  /** Creates a new, empty database. */
  async database(): Promise<string> {
    this.#names += 1;
    const name = `bench_${this.#names}`;
    await this.query(this.server.url, `CREATE DATABASE ${name}`);
    const url = new URL(this.server.url);
    url.pathname = `/${name}`;
    return url.href;
  }

  /** Returns the flags with which Node runs the measured processes. */
  get #flags(): string[] {
    const { profile } = this.options;
    return profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  }

  /** Runs one statement and returns its rows. */
  async query<R extends pg.QueryResultRow>(url: string, sql: string): Promise<R[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<R>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Flushes dirty pages and updates statistics after earlier work, so that they don't affect a measurement. */
  async settle(url: string): Promise<void> {
    await this.query(url, 'VACUUM ANALYZE');
    await this.query(url, 'CHECKPOINT');
  }

  /**
   * Returns the service that is shared by all rows to which its data doesn't matter. The service is started once and stopped
   * at the end.
   */
  async common(): Promise<Started> {
    this.#common ??= this.#start();
    const common = await this.#common;
    this.#ends.push(this.memory.watch(common.service.pid));
    return common;
  }

  /** Starts the service with either a new or an existing database, and with either a new or an existing data folder. */
  async service(before: Before = {}): Promise<MeasuredService> {
    const started = await this.#start(before);
    const watched = this.memory.watch(started.service.pid);
    let stopped: Promise<MemoryUse> | undefined;
    const stop = (): Promise<MemoryUse> => {
      stopped ??= watched().then(async (use) => {
        await started.stop();
        return use;
      });
      return stopped;
    };
    this.#ends.push(stop);
    return { ...started, stop };
  }

  async #start(before: Before = {}): Promise<Started> {
    const databaseUrl = before.databaseUrl ?? (await this.database());
    // The folder contains the service's key.
    const dataDir = before.dataDir ?? (await mkdtemp(join(this.folder, 'service-')));
    const { root } = this;
    const service = await Service.start({ ...before, databaseUrl, dataDir, flags: this.#flags, root });
    return { service, databaseUrl, dataDir, stop: () => service.stop() };
  }

  /** Starts a script from `bench/` as a process; pass `watched` if its memory use is to be included. */
  worker(script: string, watched?: 'watched'): Worker {
    const worker = Worker.start(script, watched === undefined ? [] : this.#flags);
    this.#ends.push(() => worker.stop());
    if (watched !== undefined) this.#ends.push(this.memory.watch(worker.pid));
    return worker;
  }

  /** Runs a load in the load generator's process. */
  load(plan: Plan): Promise<Outcome> {
    this.#generator ??= Worker.start('load/generator.ts');
    return this.#generator.call(plan);
  }

  /**
   * Stops the processes that a row started, last first. The database server, the load generator and the shared service stay.
   */
  async clear(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
  }

  /** Stops everything and removes the folder. */
  async end(): Promise<void> {
    await this.clear();
    await this.#generator?.stop();
    await this.#common?.then(
      ({ stop }) => stop(),
      () => undefined,
    );
    await this.server.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}
