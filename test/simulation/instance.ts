/**
 * One instance of the service. Its commands, kernel, store, progress and freshness rules are the service's own. A simulated
 * database and direct calls replace PostgreSQL and sockets.
 */
import type { ServerResponse } from 'node:http';
import type {
  CommandContext,
  CriteriaLocks,
  Lookup,
  RetryNotes,
  WriteResult,
  Written,
} from '#commands/command.ts';
import type { Commands } from '#commands/commands.ts';
import { completeCarried } from '#commands/directory/carry.ts';
import { Kernel } from '#commands/kernel/kernel.ts';
import { Streams } from '#commands/kernel/streams.ts';
import { openCommands } from '#commands/open.ts';
import { PROJECT } from '#commands/project/state.ts';
import { RESOURCES, SnapshotLoader } from '#commands/resource/state.ts';
import { FreshnessRule } from '#projections/freshness.ts';
import { Progress } from '#projections/progress.ts';
import { toRefusal } from '#src/app/refusal-of.ts';
import { understand } from '#src/events/codec.ts';
import type { EventBatch, Position } from '#src/events/store.ts';
import { parseJsonPatch } from '#src/fhir/patch/json-patch.ts';
import { tokenForm, typeHashes } from '#src/fhir/search/keys.ts';
import { openSettle } from '#src/freshness/settle.ts';
import { once } from '#src/http/idempotency.ts';
import { Exchange } from '#src/machine/exchange.ts';
import type { News } from '#src/machine/messages.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { ownCaller } from '#src/shared/access/caller.ts';
import { IdSource } from '#src/shared/ids.ts';
import { type Refusal, unavailable } from '#src/shared/refusal.ts';
import type { Database } from './database.ts';
import { MemoryEventStore } from './memory-store.ts';
import { FOLLOWERS, type Follower, type ResourceRow } from './read-models.ts';
import { RequestKeys } from './request-keys.ts';
import type { Request, Response, Shown } from './requests.ts';
import { type Surroundings, Wire } from './wire.ts';

/** The FHIR base URL. */
const BASE = 'http://simulated.example/fhir/R4/';
const CALLER = ownCaller(
  { project: 'proj_simulated', environment: 'sandbox' },
  { kind: 'api_key', keyId: 'key_simulated' },
  ['read', 'write'],
);
/** Number of events between snapshots; small enough that even short streams get snapshots. */
const SNAPSHOT_EVERY = 12;
const LOOK_MS = 1_000;
const ELECTION_MS = 2_000;
const RETRY_MS = 100;
const WAIT_MS = 10_000;
const GATHER_MS = 50;
const RECORD_MODELS = ['resources', 'history'] as const;

/** The dependencies of an instance. */
export interface InstanceDeps {
  readonly around: Surroundings;
  readonly database: Database;
  readonly newUuid: () => string;
  /** How far the instance's clock is ahead, in ms. */
  readonly skewMs: number;
  /** Sends a position to other instances, as NOTIFY does. */
  readonly notify: (from: Instance, name: string, position: Position) => void;
  /** Called with errors that clients would receive as a server error. */
  readonly onFault: (error: unknown) => void;
}

/** A process. */
export class Instance {
  readonly wire: Wire;
  readonly store: MemoryEventStore;
  readonly progress: Progress;
  readonly kernel: Kernel;
  readonly #commands: Commands;
  readonly #resources;
  readonly #keys: RequestKeys;
  readonly #rule = new FreshnessRule();
  readonly #settle: (position: Position, models: readonly string[]) => Promise<boolean>;
  /** Other processes on the same machine. */
  readonly #peers = new Map<Instance, Exchange>();
  readonly #passed = new Map<string, Position>();
  /** Database sessions that hold locks. */
  readonly #sessions = new Set<object>();

  constructor(private readonly deps: InstanceDeps) {
    const { around, database } = deps;
    this.wire = new Wire(around);
    const { wire } = this;
    const { time } = around;
    this.store = new MemoryEventStore({
      log: database.log,
      hasPeers: true,
      ask: (transaction) => wire.ask(transaction),
      hear: (notice, tell) => {
        const isLost = time.chance() < around.weather.deaf;
        if (wire.isAlive && !isLost) time.after(time.chance() * 5, () => wire.isAlive && tell(notice));
      },
      pageEvents: () => (time.chance() < around.weather.short ? 1 + Math.floor(time.chance() * 3) : 500),
      onWritten: (batch) => {
        for (const exchange of this.#peers.values()) exchange.give(batch, false);
      },
    });
    this.kernel = new Kernel(this.store);
    this.progress = new Progress({
      store: this.store,
      databaseUrl: '',
      projections: FOLLOWERS.map((name) => ({ name, version: 1 })),
      others: {
        passed: (name, position) => {
          this.#passed.set(name, position);
          for (const exchange of this.#peers.values()) exchange.moved();
        },
        wanted: (models, position) => {
          for (const exchange of this.#peers.values()) exchange.want({ models, position });
        },
      },
    });
    this.#settle = openSettle({
      note: (position, models) => wire.ask(() => database.noteLate(position, models)),
      waitFor: (position, models, ms) => this.progress.waitFor(position, models, ms),
      missing: () => [],
      lookForMissing: async () => [],
    });
    const snapshots = {
      load: (stream: string, ids: readonly string[]) => wire.ask(() => database.loadSnapshot(stream, ids)),
      save: (...snapshot: Parameters<Database['saveSnapshot']>) =>
        wire.ask(() => database.saveSnapshot(...snapshot)),
      forget: (stream: string) => wire.ask(() => database.forgetSnapshot(stream)),
    };
    const loader = new SnapshotLoader(this.store, snapshots, SNAPSHOT_EVERY);
    this.#resources = new Streams(this.kernel, RESOURCES, loader);
    this.#keys = new RequestKeys({ database, wire, time, newUuid: deps.newUuid });
    this.#commands = openCommands({
      resources: this.#resources,
      projects: new Streams(this.kernel, PROJECT),
      lookup: this.#openLookup(),
      locks: this.#openLocks(),
      settle: (position) => this.#showWritten(position),
      bases: [BASE],
      contents: NO_DOCUMENTS,
      erasure: { finished: noDocuments },
    });
    // Nothing counts as fresh until the log and the notes have been read.
    this.#rule.forget(time.now);
    void this.#look();
    void this.#askLog();
    for (const name of FOLLOWERS) void this.#follow(name);
  }

  get isAlive(): boolean {
    return this.wire.isAlive;
  }

  /** Connects the instance to another process on the same machine. */
  meet(other: Instance): void {
    const { time } = this.deps.around;
    let arrived = 0;
    const send = (news: News): void => {
      // Messages on one connection arrive in order.
      arrived = Math.max(arrived, time.now + time.chance() * 3);
      time.after(arrived - time.now, () => {
        if (this.isAlive && other.isAlive) other.#hear(this, news);
      });
    };
    this.#peers.set(other, new Exchange(send, this.#passed));
  }

  /** Receives a position from another machine. */
  hearOf(name: string, position: Position): void {
    if (this.isAlive) this.progress.advance(name, position);
  }

  /** Ends the instance without warning. */
  kill(): void {
    this.wire.cut();
    for (const session of this.#sessions) this.deps.database.endSession(session);
    this.progress.stop();
    for (const exchange of this.#peers.values()) exchange.stop();
    void this.store.close();
  }

  /** Answers a request. Never settles if the instance is killed before it has answered. */
  async answer(request: Request): Promise<Response> {
    try {
      return request.is === 'read' || request.is === 'search'
        ? await this.#read(request)
        : await this.#write(request);
    } catch (error) {
      const refusal = toRefusal(error);
      if (refusal !== undefined) return refused(refusal);
      this.deps.onFault(error);
      return { status: 500, shown: [] };
    }
  }

  async #read(request: Extract<Request, { is: 'read' | 'search' }>): Promise<Response> {
    const { database } = this.deps;
    if (request.is === 'search') {
      const models = ['resources', 'search'];
      this.#requireFresh(models);
      if (!(await this.progress.waitFor(await this.store.head(), models, WAIT_MS)))
        throw unavailable('the read model is catching up');
      const ids = await this.wire.ask(() => this.#find(request.type, request.criteria));
      return { status: 200, shown: [], total: ids.length };
    }
    this.#requireFresh(['resources']);
    const row = await this.wire.ask(() => database.models.resources.get(request.id));
    if (row === undefined) return { status: 404, shown: [] };
    const { type, id, version, deleted } = row;
    return { status: deleted ? 410 : 200, shown: [{ type, id, version, outcome: 'read' }] };
  }

  async #write(request: Exclude<Request, { is: 'read' | 'search' }>): Promise<Response> {
    const { key } = request;
    if (key === undefined) return this.#run(request, this.deps.newUuid(), this.#millis(), undefined);
    const answer = await once(
      this.#keys,
      {
        ...{ key, scope: 'simulated', credential: 'simulated', holder: undefined, method: 'POST', url: '/' },
        header: () => undefined,
        body: Buffer.from(JSON.stringify(request)),
        response: CONNECTED,
      },
      async ({ commandId, millis, retry }) => {
        const { status, shown } = await this.#run(request, commandId, millis, retry);
        return { status, headers: {}, body: JSON.stringify(shown) };
      },
      ({ status }) => ({ status, headers: {}, body: '[]' }),
    );
    return { status: answer.status, shown: JSON.parse(String(answer.body)) as Shown[] };
  }

  async #run(
    request: Exclude<Request, { is: 'read' | 'search' }>,
    commandId: string,
    millis: number,
    retry: RetryNotes | undefined,
  ): Promise<Response> {
    const context: CommandContext = {
      caller: CALLER,
      authorship: { authorType: 'device' },
      requestId: `req_${commandId}`,
      ids: new IdSource(commandId, millis),
      now: () => this.deps.around.time.micros + this.deps.skewMs * 1_000,
      retry,
    };
    const { result, position } = await this.#command(context, request);
    if (position !== undefined) await this.#showWritten(position);
    const shown = result.map((one): Shown => {
      const { type, id, version, outcome } = one;
      return { type, id, version, outcome };
    });
    const isNew = shown.length === 1 && shown[0]?.outcome === 'created';
    return { status: isNew ? 201 : 200, shown };
  }

  async #command(
    context: CommandContext,
    request: Exclude<Request, { is: 'read' | 'search' }>,
  ): Promise<Written<readonly WriteResult[]>> {
    const commands = this.#commands;
    const one = async (written: Promise<Written<WriteResult | undefined>>) => {
      const { result, position } = await written;
      return { result: result === undefined ? [] : [result], position };
    };
    const resource = 'resource' in request ? { value: request.resource, exact: false } : undefined;
    switch (request.is) {
      case 'create':
        if (resource === undefined) break;
        return one(commands.create(context, request.type, resource, request.criteria));
      case 'update':
        if (resource === undefined) break;
        return one(commands.update(context, request.type, { id: request.id }, resource, request.ifMatch));
      case 'patch': {
        const operations = parseJsonPatch([{ op: 'replace', path: '/valueString', value: request.value }]);
        const patch = { format: 'json-patch', operations, exact: false } as const;
        return one(commands.patch(context, request.type, { id: request.id }, patch, request.ifMatch));
      }
      case 'delete':
        return one(commands.remove(context, request.type, { id: request.id }, request.ifMatch));
      case 'transaction': {
        const { result, position } = await commands.transaction(context, request.entries, false);
        const sorted = [...result].sort(([first], [second]) => first - second);
        return { result: sorted.map(([, each]) => each), position };
      }
    }
    throw new TypeError(`${request.is} without a resource`);
  }

  /** Waits until read models show a write, or until it is recorded for all instances that they don't. */
  async #showWritten(position: Position): Promise<void> {
    if (this.deps.database.flaws.answersEarly !== true) await this.#settle(position, RECORD_MODELS);
  }

  #millis(): number {
    return Math.floor(this.deps.around.time.micros / 1_000);
  }

  /**
   * Checks that the read models are fresh.
   * @throws Refusal unavailable (503)
   */
  #requireFresh(models: readonly string[]): void {
    const { now } = this.deps.around.time;
    for (const name of models)
      if (!this.#rule.isFresh(name, this.progress.passed(name), now))
        throw unavailable('the read model is catching up with recent writes');
  }

  /** Returns the ids of current resources that match an identifier. */
  #find(type: string, criteria: string): string[] {
    const { models } = this.deps.database;
    const [system = '', value = ''] = (new URLSearchParams(criteria).get('identifier') ?? '').split('|');
    const key = typeHashes(CALLER.sees.ownerId, type).value('identifier', tokenForm.pair(system, value));
    const found: string[] = [];
    for (const [id, { keys }] of models.search) {
      const row = models.resources.get(id);
      if (keys.has(key) && row?.type === type && !row.deleted) found.push(id);
    }
    return found;
  }

  #openLookup(): Lookup {
    const { database } = this.deps;
    const own = (caller: Caller, row: ResourceRow | undefined): row is ResourceRow =>
      row?.tenant === caller.sees.ownerId;
    return {
      locate: async (caller, ids) => {
        const lag = caught(() => this.#requireFresh(['resources']));
        const rows = await this.wire.ask(() => ids.map((id) => database.models.resources.get(id)));
        const found = new Map(rows.filter((row) => own(caller, row)).map((row) => [row.id, row]));
        if (lag !== undefined && ids.some((id) => !found.has(id))) throw lag;
        return found;
      },
      match: async (_caller, type, criteria, except = []) => {
        if (type === 'Practitioner') await this.#reachHead(['carried']);
        await this.#reachHead(['resources', 'search']);
        const ids = await this.wire.ask(() => this.#find(type, criteria));
        return ids.filter((id) => !except.includes(id)).slice(0, 2);
      },
      matchUnwritten: async (_caller, _resources, searches) => searches.map(() => []),
      withinRecord: async () => new Set(),
      ownDocument: async () => undefined,
      directoryBodies: async () => new Map(),
    };
  }

  async #reachHead(models: readonly string[]): Promise<void> {
    if (!(await this.progress.waitFor(await this.store.head(), models, WAIT_MS)))
      throw unavailable('the read model lags behind the log');
  }

  #openLocks(): CriteriaLocks {
    const { database, around } = this.deps;
    const { time } = around;
    return {
      hold: async (keys, work) => {
        const session = {};
        this.#sessions.add(session);
        for (const key of [...keys].sort())
          await new Promise<void>((resolve) => {
            const granted = (): void => {
              if (!this.isAlive) database.endSession(session);
              else time.after(time.chance() * 2, resolve);
            };
            time.after(time.chance() * 2, () => {
              if (this.isAlive) database.lock(session, key, granted);
            });
          });
        try {
          return await work();
        } finally {
          this.#sessions.delete(session);
          time.after(time.chance() * 2, () => database.endSession(session));
        }
      },
    };
  }

  /** Reads checkpoints and notes about late writes every second. */
  async #look(): Promise<void> {
    const { around, database } = this.deps;
    const { time } = around;
    while (this.isAlive) {
      const at = time.now;
      try {
        const [checkpoints, late] = await this.wire.ask(() => [
          database.models.checkpoints(),
          new Map(database.late),
        ]);
        this.#rule.noteLate(at, late);
        for (const [name, position] of checkpoints) this.progress.hear(name, position);
        await time.sleep(LOOK_MS);
      } catch {
        this.#rule.forget(time.now);
        await time.sleep(50);
      }
    }
  }

  /** Reads the position of the log's end every second. */
  async #askLog(): Promise<void> {
    const { time } = this.deps.around;
    let unanswered = 0;
    while (this.isAlive) {
      const at = time.now;
      try {
        this.#rule.noteHead(at, await this.store.head());
        unanswered = 0;
      } catch {
        unanswered += 1;
        if (unanswered >= 2) this.#rule.logLost();
      }
      await time.sleep(LOOK_MS);
    }
  }

  /** Runs a read model or process on this instance whenever no other instance does. */
  async #follow(name: Follower): Promise<void> {
    const { database, around } = this.deps;
    const { time } = around;
    while (this.isAlive) {
      const session = {};
      this.#sessions.add(session);
      let pause = ELECTION_MS;
      try {
        if (await this.wire.ask(() => database.tryLock(session, `run ${name}`)))
          await this.#runFollower(name);
      } catch {
        // The term has ended: another instance may take over.
        pause = RETRY_MS;
      }
      this.#sessions.delete(session);
      database.endSession(session);
      await time.sleep(pause * (0.5 + time.chance()));
    }
  }

  /** Runs a follower; rejects when the follower's term ends. */
  async #runFollower(name: Follower): Promise<void> {
    const { database, around, notify } = this.deps;
    const { time } = around;
    let held = await this.wire.ask(() => database.models.checkpoint(name));
    const prefixes = ['record-', 'directory-'];
    const handle = async (batch: EventBatch): Promise<void> => {
      if (time.chance() < around.weather.lag) await time.sleep(time.chance() * around.weather.lagMs);
      if (name === 'carried') await this.#completeCarried(batch);
      const from = held;
      await this.wire.ask(() => database.models.advance(name, from, batch));
      held = batch.position;
      this.progress.advance(name, held);
      notify(this, name, held);
      if (name === 'search') await this.progress.pause(name, GATHER_MS);
    };
    await new Promise<void>((resolve, reject) => {
      this.store.subscribe({ after: held, prefixes, handle }).subscribe({ error: reject, complete: resolve });
    });
  }

  async #completeCarried({ events }: EventBatch): Promise<void> {
    const now = (): number => this.deps.around.time.micros;
    for (const event of events)
      if (event.type === 'DirectoryEntriesCarried')
        await completeCarried(this.#resources, understand(event), now);
  }

  #hear(from: Instance, { passed = [], wanted = [], batches = [] }: News): void {
    for (const batch of batches) {
      this.kernel.hear(batch.events);
      this.store.receive(batch);
    }
    for (const [name, position] of passed) this.progress.hear(name, position);
    for (const { models, position } of wanted)
      for (const model of models) this.progress.want(model, position);
    if (wanted.length > 0) this.#peers.get(from)?.noteWanted(wanted);
  }
}

/** A client connection that stays open. */
const CONNECTED = { closed: false, once: () => undefined } as unknown as ServerResponse;

const noDocuments = (): never => {
  throw new TypeError('simulations have no documents and no purges');
};
const NO_DOCUMENTS = {
  ...{ put: noDocuments, remove: noDocuments, has: noDocuments },
  ...{ lock: noDocuments, url: noDocuments },
};

function refused({ status, headers }: Refusal): Response {
  return { status, shown: [], isPassing: headers['Retry-After'] !== undefined };
}

function caught(work: () => void): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}
