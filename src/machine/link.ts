/** Connects a process to the others of its machine. */
import { randomUUID } from 'node:crypto';
import type { Registry } from 'prom-client';
import type { Progress } from '#projections/progress.ts';
import type { ProjectionStatus } from '#projections/projector.ts';
import { BEGINNING, type Position } from '../events/store.ts';
import type { FromMember, News, ToMember } from './messages.ts';

/** Interval of the signs of life, in ms. */
const BEAT_MS = 1_000;
/** How long other processes may take to answer a question, in ms. */
const ANSWER_MS = 2_000;

/** The work of a process. */
export interface Running {
  /** Returns the states of the read models that it runs. */
  readonly states: () => readonly ProjectionStatus[];
  /** Returns its metrics. */
  readonly measure: () => Promise<MetricsAsJson>;
  readonly progress: Pick<Progress, 'hear' | 'want'>;
}

/** The metrics of a process. */
export type MetricsAsJson = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** The link of one process. */
export class Link {
  readonly #passed = new Map<string, Position>();
  readonly #wanted = new Map<string, Position>();
  readonly #questions = new Map<string, (answers: readonly MetricsAsJson[]) => void>();
  readonly #states = new Map<string, { readonly state: ProjectionStatus; readonly at: number }>();
  #due = false;
  #beating: NodeJS.Timeout | undefined;
  readonly #begunAt = performance.now();
  #running: Running | undefined;

  constructor(private readonly send: (message: FromMember) => void) {}

  /** Begins to show that this process is alive, and to take news. */
  start(running: Running): void {
    this.#running = running;
    const beat = (): void => this.send({ is: 'alive', news: { states: running.states() } });
    this.#beating ??= setInterval(beat, BEAT_MS).unref();
    beat();
  }

  stop(): void {
    clearInterval(this.#beating);
  }

  /** Tells the others that a read model has passed a position. */
  passed(model: string, position: Position): void {
    this.#passed.set(model, position);
    this.#tell();
  }

  /** Tells the others that a request waits for a position. */
  wanted(model: string, position: Position): void {
    if ((this.#wanted.get(model) ?? BEGINNING) < position) this.#wanted.set(model, position);
    this.#tell();
  }

  /** Returns the states of the read models that other processes run. */
  states(): readonly ProjectionStatus[] {
    return [...this.#states.values()].map(({ state }) => state);
  }

  /** Returns for how many ms no process has said how one of these read models is: the longest time. */
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

  /** Takes a message of the primary; other messages are ignored. */
  async take(message: ToMember): Promise<void> {
    if (message.do === 'hear') this.#hear(message.news);
    if (message.do === 'answered')
      this.#questions.get(message.question)?.(message.answers as readonly MetricsAsJson[]);
    if (message.do !== 'measure') return;
    const answer = await this.#running?.measure().catch(() => undefined);
    this.send({ is: 'answering', question: message.question, answer });
  }

  #hear(news: News): void {
    for (const state of news.states ?? []) this.#states.set(state.name, { state, at: performance.now() });
    const { passed = [], wanted = [] } = news;
    for (const [model, position] of passed) this.#running?.progress.hear(model, position);
    for (const [model, position] of wanted) this.#running?.progress.want(model, position);
  }

  #tell(): void {
    if (this.#due) return;
    this.#due = true;
    setImmediate(() => {
      this.#due = false;
      const news = { passed: [...this.#passed], wanted: [...this.#wanted] };
      this.#passed.clear();
      this.#wanted.clear();
      this.send({ is: 'alive', news });
    });
  }
}
