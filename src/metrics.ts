/** Metrics for Prometheus: the process, and each request by method, route pattern and status. */
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The registry of one service; other parts register their own metrics in it. */
export interface Metrics {
  readonly registry: Registry;
  /**
   * Counts one request.
   * @param route the pattern (`/fhir/R4/:type/:id`), never the path, which holds ids; `unmatched` when there is none.
   */
  observeRequest(method: string, route: string, status: number, seconds: number): void;
}

/** A new registry with the process's metrics (CPU, memory, event loop, garbage collection). */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request line to the end of the response.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  return {
    registry,
    observeRequest(method, route, status, seconds) {
      requests.observe({ method, route, status }, seconds);
    },
  };
}

/** How a projection stands, as far as metrics tell it. */
interface ProjectionState {
  readonly name: string;
  readonly state: string;
}

/**
 * Registers a gauge per projection: its state on this instance (1 for the one it is in), and whether reads of it are
 * refused because it lags.
 */
export function observeProjections(
  registry: Registry,
  status: () => readonly ProjectionState[],
  stale: () => readonly string[],
): void {
  new Gauge({
    name: 'annal_projection_state',
    help: 'State of each projection on this instance: starting, following, running, retrying, failed, outdated.',
    labelNames: ['projection', 'state'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { name, state } of status()) this.set({ projection: name, state }, 1);
    },
  });
  new Gauge({
    name: 'annal_projection_stale',
    help: '1 while reads of a projection are refused because it lags behind the log.',
    labelNames: ['projection'],
    registers: [registry],
    collect() {
      const behind = stale();
      for (const { name } of status()) this.set({ projection: name }, behind.includes(name) ? 1 : 0);
    },
  });
}
