/**
 * Writes `ConsentExpired` for grants whose time is over. Nothing waits for it: a token is refused at the moment itself.
 * Every instance looks; the second finds that there is nothing left to write.
 */
import type { Logger } from 'pino';
import type { Consents } from '#commands/consent/consents.ts';
import type { GrantsToEnd, OpenGrant } from '#queries/consents/to-end.ts';
import type { Position } from '../events/store.ts';
import { IdSource, newRequestId, newUuid } from '../shared/ids.ts';
import { type Micros, nowMicros } from '../shared/time.ts';

/** Dependencies. */
export interface GrantExpiryDeps {
  readonly consents: Pick<Consents, 'expire'>;
  readonly expired: GrantsToEnd['expired'];
  /** Waits until the read model shows a position. */
  readonly shown: (position: Position) => Promise<unknown>;
  readonly log: Pick<Logger, 'warn'>;
  /** How often it looks, in ms. */
  readonly everyMs?: number;
  readonly now?: () => Micros;
}

/** How often it looks, in ms. */
const EVERY_MS = 2_000;
/** How long a grant that can't be ended is left out, in ms, and how many are at most. */
const APART_MS = 10 * 60_000;
const APART = 1_000;

/** Looks for expired grants until it is stopped. */
export class GrantExpiry {
  readonly #deps: GrantExpiryDeps;
  /** Grants that failed, so that they don't hold up the others, and since when. */
  readonly #apart = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(deps: GrantExpiryDeps) {
    this.#deps = deps;
  }

  /** Begins. */
  start(): void {
    const { everyMs = EVERY_MS, log } = this.#deps;
    const next = (): void => {
      if (this.#stopped) return;
      this.#timer = setTimeout(() => {
        this.#looking = this.look()
          .catch((error: unknown) =>
            log.warn({ err: error }, 'expired grants were not looked for; it will be tried again'),
          )
          .finally(next);
      }, everyMs).unref();
    };
    next();
  }

  /** Stops after the grants in hand. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  /** Ends all grants that have expired by now. */
  async look(): Promise<void> {
    const { expired, shown, now = nowMicros } = this.#deps;
    for (const [id, since] of this.#apart) {
      if (performance.now() - since > APART_MS) this.#apart.delete(id);
    }
    while (!this.#stopped && this.#apart.size < APART) {
      const page = await expired(now(), [...this.#apart.keys()]);
      if (page.length === 0) return;
      const written = await Promise.all(page.map((grant) => this.#expire(grant)));
      const last = written.reduce(
        (a, b) => (a === undefined || (b !== undefined && b > a) ? b : a),
        undefined,
      );
      // Without a new event the rows stay as they are for a moment: another instance was faster.
      if (last === undefined) return;
      await shown(last);
    }
  }

  async #expire(grant: OpenGrant): Promise<Position | undefined> {
    const { consents, log, now = nowMicros } = this.#deps;
    const by = {
      credential: { kind: 'system' as const },
      requestId: newRequestId(),
      ids: new IdSource(newUuid(), Date.now()),
      now,
    };
    try {
      const { wrote } = await consents.expire(by, grant);
      return wrote?.position;
    } catch (error) {
      this.#apart.set(grant.grantId, performance.now());
      log.warn({ err: error, grant: grant.grantId }, 'a grant could not be ended; it will be tried again');
      return undefined;
    }
  }
}
