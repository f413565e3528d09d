/** Metrics about the read side: how long each query takes. */
import { Histogram, type Registry } from 'prom-client';
import type { CallWrapper } from '#src/shared/wrap-calls.ts';
import { DURATIONS } from './registry.ts';

/**
 * Registers the histogram.
 * @returns a wrapper that measures queries
 */
export function observeQueries(registry: Registry): CallWrapper {
  const durations = new Histogram({
    name: 'annal_query_duration_seconds',
    help: 'Time that a query on the read models takes, including the wait for a connection, by kind.',
    labelNames: ['query'],
    buckets: DURATIONS,
    registers: [registry],
  });
  return async (query, call) => {
    const began = performance.now();
    try {
      return await call();
    } finally {
      durations.observe({ query }, (performance.now() - began) / 1_000);
    }
  };
}
