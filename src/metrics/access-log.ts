/** Metrics about the access log. */
import { Counter, Gauge, type Registry } from 'prom-client';

/** Registers the number of waiting entries, and the number of entries about refused reads that will never be written. */
export function observeAccessLog(registry: Registry, log: { waiting: number; dropped: number }): void {
  const registers = [registry];
  new Gauge({
    name: 'annal_access_log_waiting',
    help: 'Reads on this instance whose entries are not in the access log yet. Only refused reads are answered before their entry is written.',
    registers,
    collect() {
      this.set(log.waiting);
    },
  });
  let counted = 0;
  new Counter({
    name: 'annal_access_log_dropped_total',
    help: 'Refused reads on this instance that are missing from the access log, because it could not be written for too long.',
    registers,
    collect() {
      this.inc(log.dropped - counted);
      counted = log.dropped;
    },
  });
}
