/** Connects a process to the other processes on its machine. */
import { randomUUID } from 'node:crypto';
import type { Progress } from '#projections/progress.ts';
import type { ProjectionStatus } from '#projections/projector.ts';
import type { NewerEvents } from '../events/newer.ts';
import type { EventStore, Position, WrittenBatch } from '../events/store.ts';
import { wrappedStore } from '../events/wrapped-store.ts';
import type { MetricsAsJson } from '../metrics/registry.ts';
import type { FullDisks } from '../shared/load/full-disks.ts';
import { Exchange } from './exchange.ts';
import type { FromMember, News, Sockets, ToMember } from './messages.ts';
import { Peers } from './peers.ts';

/** Interval between signs of life, in ms. */
const BEAT_MS = 1_000;
/** How long other processes may take to answer a question, in ms. */
const ANSWER_MS = 2_000;
/** The parts of a process that its link uses. */
export interface Running {
  /** Returns the states of the read models that it runs. */
  readonly states: () => readonly ProjectionStatus[];
  /** Events of a newer version at which this process or another process stopped. */
  readonly newer: Pick<NewerEvents, 'own' | 'hear'>;
  /** Disks that this process or another process found to be full. */
  readonly disks: Pick<FullDisks, 'own' | 'hear'>;
  /** Returns its metrics. */
  readonly measure: () => Promise<MetricsAsJson>;
  readonly progress: Pick<Progress, 'hear' | 'want'>;
}

/** Another process that this one is connected to. */
interface Peer {
  readonly tell: (news: News) => void;
  readonly exchange: Exchange;
}

/** The link of one process. */
export class Link {
  readonly #peers: Peers<Peer>;
  /** Positions of the read models that this process runs or listens to. */
  readonly #passed = new Map<string, Position>();
  readonly #questions = new Map<string, (answers: readonly MetricsAsJson[]) => void>();
  readonly #states = new Map<string, { readonly state: ProjectionStatus; readonly at: number }>();
  readonly #begunAt = performance.now();
  #beating: NodeJS.Timeout | undefined;
  #running: Running | undefined;
  #onWritten: (batch: WrittenBatch) => void = () => undefined;
  #onErased: () => void = () => undefined;

  /** @param send sends a message to the primary */
  constructor(
    private readonly send: (message: FromMember) => void,
    private readonly sockets: Sockets,
  ) {
    this.#peers = new Peers(
      sockets,
      (tell) => ({ tell, exchange: new Exchange(tell, this.#passed) }),
      (peer, news) => this.#hear(peer, news),
    );
  }

  /** Starts to report that this process is alive, and to accept news. */
  async start(running: Running): Promise<void> {
    this.#running = running;
    const { states, newer, disks } = running;
    const beat = (): void =>
      this.send({ is: 'alive', states: states(), newer: newer.own(), full: disks.own() });
    this.#beating ??= setInterval(beat, BEAT_MS).unref();
    beat();
    await this.#peers.start();
  }

  stop(): void {
    clearInterval(this.#beating);
    for (const { exchange } of this.#peers.all()) exchange.stop();
    this.#peers.stop();
  }

  /**
   * Sets the functions to call: the first for each batch that another process has written or that this process has received,
   * the second when another process has erased a stream.
   */
  takeBatches(onWritten: (batch: WrittenBatch) => void, onErased: () => void): void {
    this.#onWritten = onWritten;
    this.#onErased = onErased;
  }

  /** Tells the other processes that a read model has passed a position. */
  passed(model: string, position: Position): void {
    this.#passed.set(model, position);
    for (const { exchange } of this.#peers.all()) exchange.moved();
  }

  /** Tells the other processes that a request is waiting for a position. */
  wanted(models: readonly string[], position: Position): void {
    for (const { exchange } of this.#peers.all()) exchange.want({ models, position });
  }

  /** Sends the other processes a batch that this process wrote; projectors receive it at once. */
  written(batch: WrittenBatch): void {
    const isWorker = this.sockets.own === undefined;
    for (const { exchange } of this.#peers.all()) exchange.give(batch, isWorker);
  }

  /** Takes a batch from EventStoreDB, which every process receives by itself. */
  heard(batch: WrittenBatch): void {
    this.#onWritten(batch);
  }

  /** Returns a store that behaves like the given store, but also tells the other processes about erasures. */
  tellErasures(store: EventStore): EventStore {
    const erase = async (stream: string): Promise<void> => {
      await store.erase(stream);
      this.#onErased();
      for (const { tell } of this.#peers.all()) tell({ erased: true });
    };
    return wrappedStore(store, { erase });
  }

  /** Returns the states of the read models that other processes run. */
  states(): readonly ProjectionStatus[] {
    return [...this.#states.values()].map(({ state }) => state);
  }

  /** Returns how long ago, in ms, the states of the given read models were last reported; if the times differ, the longest. */
  silence(models: readonly string[]): number {
    return performance.now() - Math.min(...models.map((name) => this.#states.get(name)?.at ?? this.#begunAt));
  }

  /** Returns the metrics of all other processes. */
  measureOthers(): Promise<readonly MetricsAsJson[]> {
    const question = randomUUID();
    return new Promise((resolve) => {
      const settle = (answers: readonly MetricsAsJson[]): void => {
        clearTimeout(late);
        this.#questions.delete(question);
        resolve(answers);
      };
      const late = setTimeout(() => settle([]), ANSWER_MS);
      this.#questions.set(question, settle);
      this.send({ is: 'asking', question });
    });
  }

  /** Takes a message from the primary; messages of unknown kinds are ignored. */
  async take(message: ToMember): Promise<void> {
    if (message.do === 'hear') {
      this.#running?.newer.hear(message.from, message.newer);
      this.#running?.disks.hear(message.full);
      for (const state of message.states) this.#states.set(state.name, { state, at: performance.now() });
    }
    if (message.do === 'answered')
      this.#questions.get(message.question)?.(message.answers as readonly MetricsAsJson[]);
    if (message.do !== 'measure') return;
    const answer = await this.#running?.measure().catch(() => undefined);
    this.send({ is: 'answering', question: message.question, answer });
  }

  #hear(from: Peer, { passed = [], wanted = [], batches = [], erased = false }: News): void {
    if (erased) this.#onErased();
    for (const batch of batches) this.#onWritten(batch);
    if (this.sockets.passesOn)
      for (const { exchange } of this.#peers.all())
        if (exchange !== from.exchange) for (const batch of batches) exchange.give(batch, false);
    for (const [model, position] of passed) this.#running?.progress.hear(model, position);
    for (const { models, position } of wanted)
      for (const model of models) this.#running?.progress.want(model, position);
    if (wanted.length > 0) from.exchange.noteWanted(wanted);
  }
}
