/**
 * Sends what is due: one dispatcher on each instance claims deliveries as it has room, a few at a time of each endpoint,
 * so that a slow endpoint delays no other. What was claimed and not ended, because the process died, is due again when
 * its lease is over.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { unseal } from '#src/shared/sealed.ts';
import type { Environment } from '#src/shared/tenant.ts';
import { nextGap } from './schedule.ts';
import type { Outcome, Sender } from './send.ts';

/** A delivery to send now. */
export interface Due {
  readonly id: string;
  readonly endpointId: string;
  readonly claims: number;
  readonly environment: Environment;
  readonly url: string;
  /** Sealed. */
  readonly secret: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly payload: string;
  readonly replay: boolean;
  readonly attempts: number;
  readonly age: number;
  readonly probing: boolean;
}

/** How an attempt ended. */
export interface Sent {
  readonly claim: Due;
  readonly status: 'delivered' | 'failed' | 'exhausted';
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly timedOut: boolean;
  readonly wait: number | null;
}

/** Where claims are made. */
export interface Claims {
  claim(rooms: readonly { readonly endpointId: string; readonly free: number }[]): Promise<readonly Due[]>;
  due(): Promise<readonly string[]>;
  end(ended: readonly Sent[]): Promise<void>;
}

/** What it works with. */
export interface DispatcherDeps {
  readonly claims: Claims;
  readonly sender: Pick<Sender, 'send' | 'breakOff'>;
  /** Opens secrets. */
  readonly key: Buffer;
  /** Seconds between attempts. */
  readonly gaps: readonly number[];
  /** Whether deliveries of an environment go to public addresses alone. */
  readonly guarded: (environment: Environment) => boolean;
  readonly log: { warn(details: object, message: string): void };
  /** Told of every attempt. */
  readonly onAttempt?: (endpointId: string, outcome: Outcome) => void;
}

/** Deliveries under way at once: to one endpoint, and in all. */
const PER_ENDPOINT = 32;
const IN_ALL = 256;
/** Of a busy endpoint it claims so many together at least: a claim is a statement, however many it is of. */
const TOGETHER = 8;
/** How long it waits, in ms, while many are under way, for more of them to end: they are noted in one statement. */
const GATHER_MS = 5;
const MANY = 32;
/** How many opened secrets it remembers. */
const MOST_SECRETS = 1_000;
/** How often it looks for retries that have become due, and for what other instances left, in ms. */
const LOOK_MS = 1_000;
/** How long a stop waits for answers, in ms. */
const STOP_MS = 1_000;

/** One instance's sending. */
export class Dispatcher {
  /** Endpoints that may have something due. */
  readonly #hot = new Set<string>();
  readonly #running = new Map<string, number>();
  /** Opened secrets of endpoints, with what they were sealed as. */
  readonly #secrets = new Map<string, { readonly sealed: string; readonly secret: string }>();
  #stopping = false;
  #inAll = 0;
  #ended: Sent[] = [];
  #pumps = false;
  #pumping: Promise<void> | undefined;
  #noting: Promise<void> | undefined;
  #again = false;
  #looking: NodeJS.Timeout | undefined;

  constructor(readonly deps: DispatcherDeps) {}

  /** Begins. */
  start(): void {
    this.#looking ??= setInterval(() => void this.#look(), LOOK_MS).unref();
    void this.#look();
  }

  /** Endpoints have something to be sent. */
  wake(endpointIds: readonly string[]): void {
    if (this.#looking === undefined) return;
    for (const id of endpointIds) this.#hot.add(id);
    this.#again = true;
    if (this.#pumps) return;
    this.#pumps = true;
    this.#pumping = this.#pump();
  }

  /** Deliveries under way. */
  get running(): number {
    return this.#inAll;
  }

  /** Claims nothing more, waits a moment for answers, breaks off what is left, and notes what ended. */
  async stop(): Promise<void> {
    clearInterval(this.#looking);
    this.#looking = undefined;
    this.#hot.clear();
    await this.#pumping;
    for (let waited = 0; this.#inAll > 0 && waited < STOP_MS; waited += 20) await delay(20);
    this.#stopping = true;
    this.deps.sender.breakOff();
    while (this.#inAll > 0) await delay(5);
    await this.#noting;
  }

  async #look(): Promise<void> {
    try {
      const due = await this.deps.claims.due();
      if (due.length > 0) this.wake(due);
    } catch (error) {
      this.#warn(error, 'deliveries that are due could not be looked for; they will be');
    }
  }

  /** Claims until nothing is due or there is no room. */
  async #pump(): Promise<void> {
    try {
      while (this.#again) {
        this.#again = false;
        const rooms = this.#rooms();
        if (rooms.length === 0) break;
        for (const { endpointId } of rooms) this.#hot.delete(endpointId);
        const claimed = await this.deps.claims.claim(rooms);
        const taken = new Map<string, number>();
        for (const due of claimed) {
          taken.set(due.endpointId, (taken.get(due.endpointId) ?? 0) + 1);
          void this.#send(due);
        }
        for (const { endpointId, free } of rooms) {
          // All that there was room for: there may be more.
          if (taken.get(endpointId) === free && this.#looking !== undefined) this.#hot.add(endpointId);
        }
      }
    } catch (error) {
      this.#warn(error, 'deliveries could not be claimed; they will be');
    } finally {
      this.#pumps = false;
    }
  }

  #rooms(): { endpointId: string; free: number }[] {
    const rooms: { endpointId: string; free: number }[] = [];
    let left = IN_ALL - this.#inAll;
    for (const endpointId of this.#hot) {
      const places = PER_ENDPOINT - (this.#running.get(endpointId) ?? 0);
      const free = places < TOGETHER ? 0 : Math.min(places, left);
      if (free > 0) rooms.push({ endpointId, free });
      left -= Math.max(free, 0);
      if (left <= 0) break;
    }
    return rooms;
  }

  async #send(due: Due): Promise<void> {
    const { endpointId } = due;
    this.#inAll += 1;
    this.#running.set(endpointId, (this.#running.get(endpointId) ?? 0) + 1);
    const outcome = await this.#attempt(due);
    this.#inAll -= 1;
    const running = (this.#running.get(endpointId) ?? 1) - 1;
    if (running === 0) this.#running.delete(endpointId);
    else this.#running.set(endpointId, running);
    if (outcome !== undefined) {
      this.deps.onAttempt?.(endpointId, outcome);
      this.#ended.push(this.#sent(due, outcome));
      this.#noting ??= this.#note();
    }
    if (this.#hot.size > 0) this.wake([]);
  }

  #attempt(due: Due): Promise<Outcome | undefined> {
    const { key, sender, guarded } = this.deps;
    let secret: string;
    try {
      secret = this.#open(key, due);
    } catch {
      const error = 'the secret of the endpoint cannot be opened: rotate it';
      return Promise.resolve({
        delivered: false,
        status: null,
        error,
        timedOut: false,
        retryAfter: undefined,
        seconds: 0,
      });
    }
    const { id: deliveryId, environment, ...rest } = due;
    return sender.send({ ...rest, deliveryId, secret, guarded: guarded(environment) });
  }

  /** @throws Error as `unseal` */
  #open(key: Buffer, { endpointId, secret: sealed }: Due): string {
    const known = this.#secrets.get(endpointId);
    if (known?.sealed === sealed) return known.secret;
    const secret = unseal(key, sealed, endpointId);
    if (this.#secrets.size >= MOST_SECRETS) this.#secrets.clear();
    this.#secrets.set(endpointId, { sealed, secret });
    return secret;
  }

  #sent(claim: Due, { delivered, status: statusCode, error, timedOut, retryAfter, seconds }: Outcome): Sent {
    const attempts = claim.attempts + 1;
    const gap = delivered
      ? undefined
      : nextGap(this.deps.gaps, { attempts, age: claim.age + seconds, retryAfter }, Math.random());
    const status = delivered ? 'delivered' : gap === undefined ? 'exhausted' : 'failed';
    return { claim, status, statusCode, error, timedOut, wait: gap ?? null };
  }

  /** Notes what has ended, many at a time. While the database is away it is kept, until the lease is long over. */
  async #note(): Promise<void> {
    while (this.#ended.length > 0) {
      if (this.#inAll >= MANY && this.#ended.length < MANY) await delay(GATHER_MS);
      const ended = this.#ended;
      this.#ended = [];
      try {
        await this.deps.claims.end(ended);
        // What is sent one at a time, a probe or a replay, may have its next.
        const probed = ended.filter(({ claim, timedOut }) => claim.probing || claim.replay || timedOut);
        if (probed.length > 0) this.wake(probed.map(({ claim }) => claim.endpointId));
      } catch (error) {
        this.#warn(error, 'how deliveries ended could not be noted; it will be');
        if (this.#stopping) break;
        this.#ended = [...ended, ...this.#ended].slice(-10_000);
        await delay(LOOK_MS);
      }
    }
    this.#noting = undefined;
  }

  #warn(error: unknown, message: string): void {
    this.deps.log.warn({ reason: error instanceof Error ? error.message : String(error) }, message);
  }
}
