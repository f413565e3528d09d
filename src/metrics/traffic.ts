/** Metrics of what is counted per request: limits that were met, and the log of requests. */
import { Counter, Gauge, type Registry } from 'prom-client';

/** Registers the counter of 429. @returns counts one, by what was used up: `key` or `address`. */
export function observeThrottled(registry: Registry): (by: 'key' | 'address') => void {
  const throttled = new Counter({
    name: 'annal_requests_throttled_total',
    help: 'Requests of this instance that were answered 429, by whose limit was used up: key, address.',
    labelNames: ['by'],
    registers: [registry],
  });
  return (by) => throttled.inc({ by });
}

/** Registers what the log of requests has not written yet, and what it never will. */
export function observeRequestLog(registry: Registry, log: { waiting: number; dropped: number }): void {
  const registers = [registry];
  new Gauge({
    name: 'annal_request_log_waiting',
    help: 'Answered requests of this instance that are not in the request log yet.',
    registers,
    collect() {
      this.set(log.waiting);
    },
  });
  let counted = 0;
  new Counter({
    name: 'annal_request_log_dropped_total',
    help: 'Answered requests of this instance that are missing in the request log: the database was away or slow for too long.',
    registers,
    collect() {
      this.inc(log.dropped - counted);
      counted = log.dropped;
    },
  });
}
