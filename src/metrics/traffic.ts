/** Metrics about the request log. */
import { Counter, Gauge, type Registry } from 'prom-client';

/** Registers the number of requests that the request log has not yet written, and the number that it will never write. */
export function observeRequestLog(registry: Registry, log: { waiting: number; dropped: number }): void {
  const registers = [registry];
  new Gauge({
    name: 'annal_request_log_waiting',
    help: 'Answered requests on this instance that are not in the request log yet.',
    registers,
    collect() {
      this.set(log.waiting);
    },
  });
  let counted = 0;
  new Counter({
    name: 'annal_request_log_dropped_total',
    help: 'Answered requests on this instance that are missing from the request log, because the database was unavailable or slow for too long.',
    registers,
    collect() {
      this.inc(log.dropped - counted);
      counted = log.dropped;
    },
  });
}
