/**
 * Sends due deliveries. The dispatcher on each instance claims deliveries when it has room, a few at a time per endpoint, so
 * that a slow endpoint doesn't delay others. If the process dies, its claimed deliveries are due again when their lease
 * expires.
 */
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type { Environment } from '#src/shared/access/caller.ts';
import { unseal } from '#src/shared/access/sealed.ts';
import type { Claim, Ended, Room } from './claims.ts';
import { HELD_MS, Lane } from './lane.ts';
import { nextGap } from './schedule.ts';
import type { Outcome, Sender } from './send.ts';

/** Where the dispatcher gets its claims. */
export interface Claims {
  claim(rooms: readonly Room[]): Promise<readonly Claim[]>;
  due(): Promise<readonly string[]>;
  end(ended: readonly Ended[]): Promise<void>;
  release(claims: readonly Claim[]): Promise<void>;
}

/** The maximum number of claimed deliveries at a time. An endpoint without any claim gets one even beyond this limit. */
const IN_ALL = 512;
/** The minimum number of deliveries that are claimed together for a busy endpoint, because each statement has a cost. */
const TOGETHER = 8;
/** Maximum number of unsealed secrets to remember. */
const MOST_SECRETS = 1_000;
/** How often to look for due retries and abandoned claims, in ms. */
const LOOK_MS = 1_000;
/** How long stopping waits for receivers' answers, in ms. */
const STOP_MS = 1_000;

/** Sends deliveries on one instance. */
export class Dispatcher {
  /** Endpoints that may have due deliveries. */
  readonly #hot = new Set<string>();
  readonly #lanes = new Map<string, Lane<Claim>>();
  /** Endpoints' unsealed secrets, with their sealed form. */
  readonly #secrets = new Map<string, { readonly sealed: string; readonly secret: string }>();
  #stopping = false;
  #ended: Ended[] = [];
  #pumps = false;
  #pumping: Promise<void> | undefined;
  #noting: Promise<void> | undefined;
  #again = false;
  #looking: NodeJS.Timeout | undefined;

  constructor(
    readonly deps: {
      readonly claims: Claims;
      readonly sender: Pick<Sender, 'send' | 'breakOff'>;
      /** Opens secrets. */
      readonly key: Buffer;
      /** Seconds between attempts. */
      readonly gaps: readonly number[];
      /** Returns whether deliveries in an environment may go only to public addresses. */
      readonly guarded: (environment: Environment) => boolean;
      readonly log: { warn(details: object, message: string): void };
      /** Called after every attempt. */
      readonly onAttempt?: (outcome: Outcome) => void;
      /** Called when the outcomes of deliveries are recorded in the ledger. */
      readonly onNoted?: (deliveryIds: readonly string[]) => void;
    },
  ) {}

  /** Begins. */
  start(): void {
    this.#looking ??= setInterval(() => void this.#look(), LOOK_MS).unref();
    void this.#look();
  }

  /** Tells the dispatcher that endpoints have something to send. */
  wake(endpointIds: readonly string[]): void {
    if (this.#looking === undefined) return;
    for (const id of endpointIds) this.#hot.add(id);
    this.#again = true;
    if (this.#pumps) return;
    this.#pumps = true;
    this.#pumping = this.#pump();
  }

  /**
   * Stops claiming, waits briefly for answers, aborts attempts that haven't been answered, records outcomes, and releases the
   * remaining claims.
   */
  async stop(): Promise<void> {
    clearInterval(this.#looking);
    this.#looking = undefined;
    this.#hot.clear();
    await this.#pumping;
    const releasing = this.#release([...this.#lanes.values()].flatMap((lane) => lane.clear()));
    for (let waited = 0; this.#sent > 0 && waited < STOP_MS; waited += 20) await delay(20);
    this.#stopping = true;
    this.deps.sender.breakOff();
    // Attempts that have just ended are recorded in the next turn.
    await delay(0);
    await this.#noting;
    await releasing;
  }

  async #look(): Promise<void> {
    for (const lane of this.#lanes.values()) this.#begin(lane);
    try {
      const due = await this.deps.claims.due();
      if (due.length > 0) this.wake(due);
    } catch (error) {
      this.#warn(error, 'due deliveries could not be read; this will be retried');
    }
  }

  /** Claims deliveries until none are due or the room is used up. */
  async #pump(): Promise<void> {
    try {
      while (this.#again) {
        this.#again = false;
        const rooms = this.#rooms();
        if (rooms.length === 0) break;
        for (const { endpointId } of rooms) this.#hot.delete(endpointId);
        const at = performance.now();
        this.#take(rooms, await this.deps.claims.claim(rooms), at);
      }
    } catch (error) {
      this.#warn(error, 'deliveries could not be claimed; this will be retried');
    } finally {
      this.#pumps = false;
    }
  }

  #take(rooms: readonly Room[], claimed: readonly Claim[], at: number): void {
    for (const { endpointId, free } of rooms) {
      const own = claimed.filter((due) => due.endpointId === endpointId);
      // The whole room was used, so more deliveries may be due.
      if (own.length === free && this.#looking !== undefined) this.#hot.add(endpointId);
      if (own.length === 0) continue;
      const lane = this.#lanes.get(endpointId) ?? new Lane<Claim>();
      this.#lanes.set(endpointId, lane);
      lane.add(own, at);
      this.#begin(lane);
    }
  }

  /**
   * Returns the room for each endpoint: at most half of the remaining places, so that slow endpoints never block a new
   * endpoint.
   */
  #rooms(): Room[] {
    const rooms: Room[] = [];
    let left = IN_ALL;
    for (const { size } of this.#lanes.values()) left -= size;
    for (const endpointId of this.#hot) {
      const lane = this.#lanes.get(endpointId);
      const room = Math.min(lane?.room ?? new Lane().room, Math.ceil(left / 2));
      const free = lane === undefined ? Math.max(1, room) : room < TOGETHER ? 0 : room;
      if (free > 0) rooms.push({ endpointId, free });
      left -= free;
    }
    return rooms;
  }

  get #sent(): number {
    let sent = 0;
    for (const lane of this.#lanes.values()) sent += lane.sent;
    return sent;
  }

  /** Sends deliveries for which there is a place, and releases the ones that have waited too long. */
  #begin(lane: Lane<Claim>): void {
    if (this.#looking === undefined) return;
    const old = lane.takeOld(performance.now() - HELD_MS);
    if (old.length > 0)
      void this.#release(old).then(() => this.wake(old.map(({ endpointId }) => endpointId)));
    for (let due = lane.next(); due !== undefined; due = lane.next()) void this.#send(lane, due);
  }

  /** Releases claims whose deliveries won't be sent by this instance. */
  async #release(claims: readonly Claim[]): Promise<void> {
    if (claims.length === 0) return;
    try {
      await this.deps.claims.release(claims);
    } catch (error) {
      this.#warn(error, 'claims on deliveries could not be released; they will expire');
    }
  }

  async #send(lane: Lane<Claim>, due: Claim): Promise<void> {
    const outcome = await this.#attempt(due);
    if (outcome === undefined) {
      this.#free(due.endpointId, 1);
      return;
    }
    lane.answered(outcome.seconds);
    // From now on, the endpoint gets one delivery at a time, so its other claims are dropped.
    if (outcome.timedOut) lane.clear();
    this.deps.onAttempt?.(outcome);
    this.#ended.push(this.#makeEnd(due, outcome));
    this.#noting ??= this.#note();
  }

  /** Frees some places of an endpoint. */
  #free(endpointId: string, count: number): void {
    const lane = this.#lanes.get(endpointId);
    if (lane === undefined) return;
    lane.noted(count);
    this.#begin(lane);
    if (lane.size === 0) this.#lanes.delete(endpointId);
  }

  #attempt(due: Claim): Promise<Outcome | undefined> {
    const { key, sender, guarded } = this.deps;
    let secret: string;
    try {
      secret = this.#open(key, due);
    } catch {
      const error = 'the secret of the endpoint cannot be decrypted; rotate it';
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

  /**
   * Unseals an endpoint's secret.
   * @throws the Error that `unseal` throws
   */
  #open(key: Buffer, { endpointId, secret: sealed }: Claim): string {
    const known = this.#secrets.get(endpointId);
    if (known?.sealed === sealed) return known.secret;
    const secret = unseal(key, sealed, endpointId);
    if (this.#secrets.size >= MOST_SECRETS) this.#secrets.clear();
    this.#secrets.set(endpointId, { sealed, secret });
    return secret;
  }

  #makeEnd(
    claim: Claim,
    { delivered, status: statusCode, error, timedOut, retryAfter, seconds }: Outcome,
  ): Ended {
    const attempts = claim.attempts + 1;
    const gap = delivered
      ? undefined
      : nextGap(this.deps.gaps, { attempts, age: claim.age + seconds, retryAfter }, Math.random());
    const status = delivered ? 'delivered' : gap === undefined ? 'exhausted' : 'failed';
    return { claim, status, statusCode, error, timedOut, wait: gap ?? null };
  }

  /**
   * Records outcomes, many at a time. While the database is unreachable, the outcomes stay in memory and their deliveries keep
   * their places.
   */
  async #note(): Promise<void> {
    while (this.#ended.length > 0) {
      // Outcomes from the same pass of the event loop are recorded together; later ones are recorded by the next statement.
      await setImmediate();
      const ended = this.#ended;
      this.#ended = [];
      try {
        await this.deps.claims.end(ended);
      } catch (error) {
        this.#warn(error, 'the results of deliveries could not be saved; this will be retried');
        if (this.#stopping) break;
        this.#ended = [...ended, ...this.#ended];
        await delay(LOOK_MS);
        continue;
      }
      this.deps.onNoted?.(ended.map(({ claim }) => claim.id));
      const counts = new Map<string, number>();
      for (const { claim } of ended) counts.set(claim.endpointId, (counts.get(claim.endpointId) ?? 0) + 1);
      for (const [endpointId, count] of counts) this.#free(endpointId, count);
      const followed = ended.filter(hasFollower);
      if (followed.length > 0 || this.#hot.size > 0) this.wake(followed.map(({ claim }) => claim.endpointId));
    }
    this.#noting = undefined;
  }

  #warn(error: unknown, message: string): void {
    this.deps.log.warn({ reason: error instanceof Error ? error.message : String(error) }, message);
  }
}

/**
 * Returns whether another delivery may have been waiting for this one to end, because this one was a probe, part of a replay,
 * or about a deletion.
 */
function hasFollower({ claim, timedOut }: Ended): boolean {
  return claim.probing || claim.replay || timedOut || claim.eventType === 'resource.deleted';
}
