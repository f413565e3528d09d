/** Metrics about webhooks: waiting deliveries, and outcomes of attempts. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { resultInTime, shareRunning } from './share-running.ts';

/** Waiting deliveries on all instances. */
export interface Backlog {
  /** Deliveries that are due. */
  readonly due: number;
  /** Age of the oldest due delivery, in seconds. */
  readonly oldest: number;
  /** Deliveries between attempts. */
  readonly waiting: number;
}

/** An attempt that has finished. */
interface Attempted {
  readonly delivered: boolean;
  readonly timedOut: boolean;
  readonly status: number | null;
  readonly seconds: number;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Registers the metrics.
 * @param backlog read at each scrape; if it rejects or takes too long, the gauges are omitted
 * @returns a function to call after each attempt
 */
export function observeWebhooks(
  registry: Registry,
  backlog: () => Promise<Backlog>,
): (attempted: Attempted) => void {
  const registers = [registry];
  const attempts = new Counter({
    name: 'annal_webhook_attempts_total',
    help: 'Webhook delivery attempts on this instance, by result: delivered, refused (an answer other than 2xx), timeout, unreachable.',
    labelNames: ['result'],
    registers,
  });
  const duration = new Histogram({
    name: 'annal_webhook_attempt_duration_seconds',
    help: 'Time from connecting to the last byte of the answer.',
    buckets: SECONDS,
    registers,
  });
  const look = shareRunning(backlog);
  const gauge = (name: string, help: string, member: keyof Backlog): void => {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const found = await resultInTime(look);
        // `reset` would set a gauge without labels to 0.
        if (found === undefined) this.remove();
        else this.set(found[member]);
      },
    });
  };
  gauge(
    'annal_webhook_due_deliveries',
    'Webhook deliveries that are due and not sent, on any instance.',
    'due',
  );
  gauge(
    'annal_webhook_oldest_due_seconds',
    'How long the oldest unsent delivery has been due, 0 when none is due.',
    'oldest',
  );
  gauge('annal_webhook_waiting_deliveries', 'Webhook deliveries that wait between two attempts.', 'waiting');
  return ({ delivered, timedOut, status, seconds }) => {
    const result = delivered
      ? 'delivered'
      : timedOut
        ? 'timeout'
        : status === null
          ? 'unreachable'
          : 'refused';
    attempts.inc({ result });
    duration.observe(seconds);
  };
}
