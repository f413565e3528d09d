/**
 * Metrics for Prometheus: a service's registry, metrics about its process, and metrics about requests by method, route and
 * status.
 */
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** A service's registry; other parts register their own metrics in it (`src/metrics/`). */
export interface Metrics {
  readonly registry: Registry;
  /**
   * Counts one request.
   * @param route the pattern (`/fhir/R4/:type/:id`), never the path, which contains ids; `unmatched` if there is none
   */
  observeRequest(method: string, route: string, status: number, seconds: number): void;
  /** Counts a 429 response, by the kind of limit that was used up. */
  observeThrottled(by: 'address' | 'key' | 'application' | 'grant' | 'person' | 'link'): void;
  /**
   * Checks the conditions for `/health/ready` whenever metrics are read.
   * @param check never rejects
   */
  observeChecks(check: () => Promise<readonly (readonly [name: string, holds: boolean])[]>): void;
  /** Returns all metrics as text for Prometheus, with its Content-Type. */
  exposition(): Promise<{ readonly type: string; readonly text: string }>;
}

/** Upper bounds for durations within a request, in seconds. */
export const DURATIONS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** A process's metrics. */
export type MetricsAsJson = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** One of several processes in an instance. */
export interface MeasuredProcess {
  /** Sets the label `worker` on its metrics. */
  readonly name: string;
  /** Returns the other processes' metrics. */
  readonly measure: () => Promise<readonly MetricsAsJson[]>;
}

/**
 * Creates a registry with the process's metrics (CPU, memory, event loop, garbage collection).
 * @param process set if there are several processes; each process then shows the metrics of all processes
 */
export function createMetrics(process?: MeasuredProcess): Metrics {
  const registry = new Registry();
  if (process !== undefined) registry.setDefaultLabels({ worker: process.name });
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request line to the end of the response.',
    labelNames: ['method', 'route', 'status'],
    buckets: DURATIONS,
    registers: [registry],
  });
  const throttled = new Counter({
    name: 'annal_requests_throttled_total',
    help: 'Requests that this instance answered with 429, by the kind of limit that was reached: address, key, application, grant, person, link.',
    labelNames: ['by'],
    registers: [registry],
  });
  return {
    registry,
    observeRequest(method, route, status, seconds) {
      requests.observe({ method, route, status }, seconds);
    },
    observeThrottled: (by) => throttled.inc({ by }),
    observeChecks(check) {
      new Gauge({
        name: 'annal_ready_check',
        help: '1 while a condition of /health/ready holds.',
        labelNames: ['check'],
        registers: [registry],
        async collect() {
          for (const [name, holds] of await check()) this.set({ check: name }, holds ? 1 : 0);
        },
      });
    },
    async exposition() {
      if (process === undefined) return { type: registry.contentType, text: await registry.metrics() };
      const [own, others] = await Promise.all([registry.getMetricsAsJSON(), process.measure()]);
      const all = AggregatorRegistry.aggregate([own, ...others]);
      return { type: all.contentType, text: await all.metrics() };
    },
  };
}

/**
 * Registers the version.
 * @param version the package's version, `1.2.3`
 */
export function observeBuild(registry: Registry, version: string): void {
  new Gauge({
    name: 'annal_build_info',
    help: 'Always 1; the label says which version of Annal runs.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1);
}
