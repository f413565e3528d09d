/** Counts and logs every request, using connections that wait neither for other work nor for the disk. */
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { KeyUse, Usage } from '#src/operations/usage.ts';
import { openPool } from '../database/pool.ts';
import { observeRequestLog } from '../metrics/traffic.ts';
import { nowMicros } from '../shared/time/time.ts';
import { LimitLeases } from './limit-leases.ts';
import { RateLimits } from './limits.ts';
import { RequestLog } from './request-log.ts';

/** Options and dependencies. */
export interface TrafficOptions {
  readonly databaseUrl: string;
  readonly config: { readonly rateLimitPerMinute: number; readonly requestLogDays: number };
  readonly log: Logger;
}

/** The parts. */
export interface Traffic {
  /** Undefined if RATE_LIMIT_PER_MINUTE is 0. */
  readonly limits: RateLimits | undefined;
  readonly requestLog: RequestLog;
  readonly usage: Usage;
  readonly keyUse: KeyUse;
  readonly pool: Pool;
  /** Registers the metrics for all of these parts. */
  observe(registry: Registry): void;
  /** Writes the waiting entries, returns leased budgets, and closes the connections. */
  close(): Promise<void>;
}

/** Interval at which collected entries are written, in ms. */
const FLUSH_MS = 1_000;
/** Interval at which expired entries are deleted, in ms. */
const SWEEP_MS = 10 * 60_000;
const DAY = 86_400_000_000;

/** Opens them. */
export function openTraffic({ databaseUrl, config, log }: TrafficOptions): Traffic {
  const pool = openPool(databaseUrl, {
    max: 2,
    name: 'annal traffic',
    options: '-c synchronous_commit=off',
    connectMs: 2_000,
    answerMs: 5_000,
  });
  const requestLog = new RequestLog(pool);
  const usage = new Usage(pool);
  const keyUse = new KeyUse(pool);
  const limit = config.rateLimitPerMinute;
  const limits = limit === 0 ? undefined : new RateLimits(new LimitLeases(pool, limit));
  // Runs one write after the other, so that a connection is always free for the limits.
  const flush = async (): Promise<void> => {
    await requestLog.flush();
    await usage.flush();
    await keyUse.flush();
  };
  let flushing: Promise<void> | undefined;
  let failing = false;
  const timers = [
    setInterval(() => {
      flushing ??= flush()
        .then(
          () => {
            failing = false;
          },
          (error: unknown) => {
            if (!failing)
              log.warn(
                { err: error },
                'entries could not be written to the request log; they will be retried',
              );
            failing = true;
          },
        )
        .finally(() => {
          flushing = undefined;
        });
    }, FLUSH_MS).unref(),
    setInterval(() => {
      requestLog
        .sweep(nowMicros() - config.requestLogDays * DAY)
        .catch((error: unknown) =>
          log.warn({ err: error }, 'old entries were not removed from the request log'),
        );
    }, SWEEP_MS).unref(),
  ];
  return {
    limits,
    requestLog,
    usage,
    keyUse,
    pool,
    observe(registry) {
      observeRequestLog(registry, requestLog);
    },
    async close() {
      for (const timer of timers) clearInterval(timer);
      await flushing;
      const late = (error: unknown): void =>
        log.warn({ err: error }, 'the last entries were not written to the request log');
      await Promise.all([flush().catch(late), limits?.close()]);
      await pool.end();
    },
  };
}
