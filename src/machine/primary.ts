/**
 * The primary process on a machine. It starts the processes that answer requests and keep read models up to date, restarts
 * those that exit or hang, and stops them in order. It loads none of their code.
 */
import cluster, { type Worker } from 'node:cluster';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { newId } from '../shared/ids.ts';
import { SHARERS_OF_PROJECTOR } from './budgets.ts';
import type { FromMember, InstanceMark, Part, Sockets, ToMember, Work } from './messages.ts';
import type { Sizes } from './sizes.ts';

/** How long a process may be silent before it is killed, in ms. */
const HUNG_MS = 5_000;
/** Interval between checks for hung processes, in ms. */
const LOOK_MS = 1_000;
/** The number of crashes within a minute after which the service exits. */
const CRASHES = 5;
const MINUTE_MS = 60_000;
/** Pauses before a process is restarted, in ms. The pause doubles with each crash within a minute. */
const PAUSE = { first: 100, last: 5_000 } as const;
/** How long the answer to a question may take, in ms. */
const ANSWER_MS = 1_500;

/** The read models of each projector, if there are two projectors. `search` and `timeline` stay together. */
export const DIVIDED: readonly (readonly string[])[] = [
  ['resources', 'history', 'projects', 'webhooks', 'consents'],
  ['search', 'timeline'],
];

/** Thrown when a process can't start, or must not continue. */
export class MemberFailed extends Error {
  override readonly name = 'MemberFailed';
  /** @param plain whether the message is a sentence for people that should be shown without a stack */
  constructor(
    message: string,
    readonly plain: boolean,
  ) {
    super(message);
  }
}

/** A process of the machine. */
interface Member {
  readonly part: Part;
  readonly worker: Worker;
  readonly ready: Promise<string | undefined>;
  aliveAt: number;
  isReady: boolean;
  isStopping: boolean;
}

/** A question from one process to all others. */
interface Question {
  readonly from: Member;
  readonly open: Set<number>;
  readonly answers: unknown[];
  readonly settle: () => void;
}

/** Options. */
export interface PrimaryOptions {
  readonly sizes: Sizes;
  readonly databaseUrl: string;
  /** The folder for sockets; only this user may open it. */
  readonly folder: string;
  readonly log: Logger;
  /** Called when the first project exists, before the service is ready. */
  readonly onBegun: (quickstart: unknown) => Promise<void>;
  /** Called once, when the service can't continue. */
  readonly onFatal: (error: MemberFailed) => void;
}

/** The processes of this machine. */
export class Primary {
  readonly #members = new Set<Member>();
  readonly #questions = new Map<string, Question>();
  /** Times of the crashes within the last minute. */
  #crashes: number[] = [];
  #looking: NodeJS.Timeout | undefined;
  #lookedAt = performance.now();
  #isStarted = false;
  #isStopping = false;
  /** Resolves when the latest replacement is finished: only one runs at a time. */
  #replacing: Promise<void> = Promise.resolve();
  #begun: Promise<void> = Promise.resolve();

  readonly #instance: InstanceMark = { id: newId('inst_'), pid: process.pid };

  constructor(private readonly options: PrimaryOptions) {}

  /**
   * Starts all processes.
   * @returns the URL at which they answer
   * @throws MemberFailed
   */
  async start(): Promise<string> {
    const { workers } = this.options.sizes;
    const [first, ...others] = this.#projectors();
    this.#looking = setInterval(() => this.#look(), LOOK_MS);
    // If this process has to rebuild read models, it answers on the service's port meanwhile that the service is starting.
    if (first !== undefined) await this.#fork(first).ready;
    await Promise.all(others.map((part) => this.#fork(part).ready));
    const url = await this.#fork(this.#worker(1, true)).ready;
    await this.#begun;
    const rest = Array.from({ length: workers - 1 }, (_, n) => this.#fork(this.#worker(n + 2)).ready);
    await Promise.all(rest);
    for (const member of this.#members) send(member, { do: 'begun' });
    this.#isStarted = true;
    return url ?? '';
  }

  /**
   * Starts a replacement for each process that answers requests, one at a time, and stops the old process when the new one is
   * ready.
   */
  replace(): Promise<void> {
    this.#replacing = this.#replacing.then(async () => {
      for (const old of [...this.#members].filter(({ part }) => part.answers)) {
        if (this.#isStopping) return;
        try {
          await this.#fork({ ...old.part, begins: false }).ready;
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error);
          this.options.log.error({ worker: old.part.name, reason }, 'a process could not be replaced');
          if (!this.#members.has(old)) await this.#restart(old.part, 'it ended while it was being replaced');
          return;
        }
        await this.#end(old);
      }
      this.options.log.info('all processes that answer requests were replaced');
    });
    return this.#replacing;
  }

  /** Stops the processes that answer requests, then the projectors. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#looking);
    for (const answers of [true, false])
      await Promise.all(
        [...this.#members].filter(({ part }) => part.answers === answers).map((member) => this.#end(member)),
      );
  }

  /** Kills all processes without waiting. */
  abandon(): void {
    for (const { worker } of this.#members) worker.process.kill('SIGKILL');
  }

  /** Workers connect to all projectors; a projector connects to the projectors that precede it. */
  #findSockets({ name, answers }: Part): Sockets {
    const names = this.#projectors().map((part) => part.name);
    const before = answers ? names : names.slice(0, names.indexOf(name));
    const find = (each: string): string => join(this.options.folder, `${each}.sock`);
    const passesOn = name === names[0];
    return {
      own: answers ? undefined : find(name),
      others: before.map(find),
      passesOn,
    };
  }

  #projectors(): Part[] {
    const { projectors } = this.options.sizes;
    const all = projectors === 2 ? DIVIDED : [undefined];
    return all.map((projects, n) => ({
      ...{ name: `projector-${n + 1}`, answers: false, begins: false, sharers: SHARERS_OF_PROJECTOR },
      ...{ projects, leads: n === 0, prepares: n === 0, instance: this.#instance },
    }));
  }

  #worker(number: number, begins = false): Part {
    return {
      ...{ name: `http-${number}`, answers: true, projects: [], leads: false, prepares: false },
      ...{ begins, sharers: this.options.sizes.workers, instance: this.#instance },
    };
  }

  #fork(part: Part): Member {
    const worker = cluster.fork();
    let resolve: (url: string | undefined) => void = () => undefined;
    let reject: (error: MemberFailed) => void = () => undefined;
    const ready = new Promise<string | undefined>((settle, fail) => {
      resolve = settle;
      reject = fail;
    });
    ready.catch(() => undefined);
    const state = { isReady: false, isStopping: false, aliveAt: performance.now() };
    const member: Member = Object.assign(state, { part, worker, ready });
    this.#members.add(member);
    worker.on('message', (message: FromMember) => {
      member.aliveAt = performance.now();
      if (message.is === 'here') {
        const { databaseUrl } = this.options;
        send(member, { do: 'begin', part, databaseUrl, sockets: this.#findSockets(part) });
      } else if (message.is === 'ready') {
        member.isReady = true;
        resolve(message.url);
        if (this.#isStarted) send(member, { do: 'begun' });
      } else if (message.is === 'fatal') {
        const error = new MemberFailed(message.message, message.plain);
        reject(error);
        if (member.isReady) this.#fatal(error);
      } else this.#take(member, message);
    });
    worker.once('exit', (code, signal) => {
      this.#members.delete(member);
      for (const question of this.#questions.values()) answer(question, worker.id);
      const reason = `${part.name} ended: ${signal ?? `code ${code}`}`;
      reject(new MemberFailed(reason, true));
      if (member.isReady && !member.isStopping && !this.#isStopping) void this.#restart(part, reason);
    });
    return member;
  }

  #take(from: Member, message: FromMember): void {
    if (message.is === 'begun') {
      this.#begun = this.options.onBegun(message.quickstart);
      this.#begun.catch(() => undefined); // Rethrown where the start waits for it.
    }
    if (message.is === 'alive') this.#passOn(from, message);
    if (message.is === 'asking') this.#ask(from, message.question);
    if (message.is !== 'answering') return;
    const question = this.#questions.get(message.question);
    if (question === undefined) return;
    question.answers.push(message.answer);
    answer(question, from.worker.id);
  }

  #passOn(from: Member, { states, newer, full }: Work): void {
    if (states.length === 0 && full.length === 0) return;
    const said = { do: 'hear', from: from.part.name, states, newer, full } as const;
    for (const member of this.#members) if (member !== from) send(member, said);
  }

  #ask(from: Member, id: string): void {
    const others = [...this.#members].filter((member) => member !== from);
    const settle = (): void => {
      clearTimeout(late);
      this.#questions.delete(id);
      send(from, { do: 'answered', question: id, answers: question.answers });
    };
    const late = setTimeout(settle, ANSWER_MS);
    const question = { from, open: new Set(others.map(({ worker }) => worker.id)), answers: [], settle };
    this.#questions.set(id, question);
    if (others.length === 0) settle();
    for (const member of others) send(member, { do: 'measure', question: id });
  }

  async #restart(part: Part, reason: string): Promise<void> {
    const { log } = this.options;
    const now = performance.now();
    this.#crashes = [...this.#crashes.filter((at) => now - at < MINUTE_MS), now];
    const count = this.#crashes.length;
    if (count >= CRASHES) {
      const message = `processes ended unexpectedly ${count} times within a minute; the last reason: ${reason}`;
      return this.#fatal(new MemberFailed(message, true));
    }
    const ms = Math.min(PAUSE.first * 2 ** (count - 1), PAUSE.last);
    log.error(
      { worker: part.name, reason, restart_in_ms: ms },
      'a process ended unexpectedly and is being restarted',
    );
    await pause(ms);
    // The process may have exited while it was being replaced; then its replacement is already running.
    if (this.#isStopping || [...this.#members].some((member) => member.part.name === part.name)) return;
    await this.#fork({ ...part, prepares: false, begins: false }).ready.catch((error: MemberFailed) => {
      if (!this.#isStopping) void this.#restart(part, error.message);
    });
  }

  /** Kills processes that hang, unless the primary itself or the whole machine was stalled. */
  #look(): void {
    const now = performance.now();
    const isHeldUp = now - this.#lookedAt > 2 * LOOK_MS;
    this.#lookedAt = now;
    for (const member of this.#members) {
      if (isHeldUp) member.aliveAt = now;
      if (now - member.aliveAt <= HUNG_MS || !member.isReady || member.isStopping) continue;
      this.options.log.error({ worker: member.part.name }, "a process doesn't respond and is being killed");
      member.worker.process.kill('SIGKILL');
    }
  }

  async #end(member: Member): Promise<void> {
    member.isStopping = true;
    const ended = new Promise((resolve) => member.worker.once('exit', resolve));
    if (!this.#members.has(member)) return;
    send(member, { do: 'stop' });
    await ended;
  }

  #fatal(error: MemberFailed): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.options.onFatal(error);
  }
}

function send({ worker }: Member, message: ToMember): void {
  // The process may have exited; its exit is handled elsewhere.
  if (worker.isConnected()) worker.send(message, () => undefined);
}

/** Notes that a process has answered a question, or can no longer answer it. */
function answer({ open, settle }: Question, id: number): void {
  if (open.delete(id) && open.size === 0) settle();
}
