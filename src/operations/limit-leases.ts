/**
 * Budgets for rate limits, shared by all instances. There is one row per subject, with the current window and how much of it
 * has been granted. Instances take slices of a budget and return what they don't use. A slice is at most a twentieth of the
 * rest, so that little is left unused when the budget runs out.
 */
import type { Pool } from 'pg';

/**
 * Length of a window, in ms. It begins with a subject's first request; the next window begins with the first request after it.
 */
const WINDOW_MS = 60_000;

/**
 * DDL for the table in schema `operations`. The table is unlogged, so a database crash loses its rows, which are worth at most
 * a minute. `granted` is the number that the last statement took; the column is needed because an upsert can't return earlier
 * values.
 */
export const RATE_LIMIT_SQL = `
CREATE UNLOGGED TABLE operations.rate_limit (
  subject text PRIMARY KEY,            -- key/<key id> or address/<client address>
  ends int8 NOT NULL,                  -- of the window, in ms since 1970 by the database's clock
  used int4 NOT NULL,                  -- of the window's budget
  granted int4 NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX rate_limit_ends ON operations.rate_limit (ends);`;

/** A request for one subject, as part of a statement. */
interface Asked {
  readonly subject: string;
  /** Amount to take; negative to return some. */
  readonly take: number;
  /** For returns: the window from which the amount was taken. */
  readonly window: number | null;
}

/** A slice of the budget for a window. */
export interface Lease {
  /** 0: nothing is left. */
  readonly granted: number;
  /** The amount that is still available. */
  readonly remaining: number;
  /** The window's name: its end by the database's clock. */
  readonly window: number;
  /** Time until the window ends, in ms. */
  readonly left: number;
}

interface Row {
  readonly subject: string;
  readonly granted: number;
  readonly used: number;
  readonly ends: number;
  readonly left: number;
}

const NOW = '(extract(epoch from statement_timestamp()) * 1000)::int8';
const SHARE = 20;
const TAKEN = `case
  when excluded.granted > 0 then greatest(0, least(excluded.granted, ceil(($4::int4 - r.used) / ${SHARE}.0)::int4))
  when r.ends = excluded.ends then excluded.granted
  else 0 end`;
const OVER = `r.ends <= ${NOW} and excluded.granted > 0`;

// Sorted by subject, so that two instances never deadlock.
const SETTLE = `
insert into operations.rate_limit as r (subject, ends, used, granted)
select s.subject, coalesce(s.ends, ${NOW} + $5::int4), greatest(0, least(s.take, ceil($4::int4 / ${SHARE}.0)::int4)),
       least(s.take, ceil($4::int4 / ${SHARE}.0)::int4)
  from unnest($1::text[], $2::int4[], $3::int8[]) as s(subject, take, ends)
 order by s.subject
on conflict (subject) do update set
  ends = case when ${OVER} then excluded.ends else r.ends end,
  used = case when ${OVER} then excluded.used else greatest(0, r.used + ${TAKEN}) end,
  granted = case when ${OVER} then excluded.granted else ${TAKEN} end
returning r.subject, r.granted, r.used, r.ends, r.ends - ${NOW} as left`;

/** The maximum number of subjects in one statement. */
const MOST = 2_000;
/** Pause after a database failure, in ms. */
const AWAY_MS = 1_000;

interface Waiting {
  readonly asked: Asked;
  readonly resolve: (lease: Lease) => void;
  readonly reject: (error: unknown) => void;
}

/** The budgets in PostgreSQL. Requests that arrive while a statement is running are combined in the next statement. */
export class LimitLeases {
  #waiting: Waiting[] = [];
  #underWay = false;
  #awayUntil = 0;
  #away: unknown;

  /**
   * @param pool connections that wait neither for other work nor for the disk
   * @param limit the budget for each window
   * @param windowMs length of a window, in ms
   */
  constructor(
    readonly pool: Pool,
    readonly limit: number,
    readonly windowMs = WINDOW_MS,
  ) {}

  /**
   * Takes a slice of at most `want`. For each subject, only one request runs at a time. Rejects while the database is
   * unreachable.
   */
  take(subject: string, want: number): Promise<Lease> {
    return this.#ask({ subject, take: want, window: null });
  }

  /** Returns what is left of a window's slices to the budget; does nothing for a window that has ended. */
  async bringBack(subject: string, count: number, window: number): Promise<void> {
    await this.#ask({ subject, take: -count, window });
  }

  /** Deletes windows that have ended. */
  async sweep(): Promise<void> {
    await this.pool.query(`delete from operations.rate_limit where ends < ${NOW}`);
  }

  #ask(asked: Asked): Promise<Lease> {
    if (performance.now() < this.#awayUntil) return Promise.reject(this.#away);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ asked, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#underWay || this.#waiting.length === 0) return;
    this.#underWay = true;
    // Requests from the same pass of the event loop are combined.
    setImmediate(() => {
      const batch = this.#batch();
      void this.#settle(batch).finally(() => {
        this.#underWay = false;
        this.#next();
      });
    });
  }

  /**
   * Returns the requests for the next statement. Each subject occurs only once, because an upsert may touch a row only once.
   */
  #batch(): Waiting[] {
    const batch = new Map<string, Waiting>();
    const rest: Waiting[] = [];
    for (const waiting of this.#waiting) {
      const { subject } = waiting.asked;
      if (batch.size < MOST && !batch.has(subject)) batch.set(subject, waiting);
      else rest.push(waiting);
    }
    this.#waiting = rest;
    return [...batch.values()];
  }

  async #settle(batch: readonly Waiting[]): Promise<void> {
    try {
      const { rows } = await this.pool.query<Row>({
        name: 'rate-limit-settle',
        text: SETTLE,
        values: [
          batch.map(({ asked }) => asked.subject),
          batch.map(({ asked }) => asked.take),
          batch.map(({ asked }) => asked.window),
          this.limit,
          this.windowMs,
        ],
      });
      const found = new Map(rows.map((row) => [row.subject, row]));
      for (const { asked, resolve, reject } of batch) {
        const row = found.get(asked.subject);
        if (row === undefined) reject(new Error('the database did not answer in time for a rate limit'));
        else resolve({ ...row, remaining: Math.max(0, this.limit - row.used), window: row.ends });
      }
    } catch (error) {
      this.#away = error;
      this.#awayUntil = performance.now() + AWAY_MS;
      for (const { reject } of [...batch, ...this.#waiting.splice(0)]) reject(error);
    }
  }
}
