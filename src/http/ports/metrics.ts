/** A service's metrics. */
export interface Metrics {
  /**
   * Counts one request.
   * @param route the pattern (`/fhir/R4/:type/:id`), never the path, which contains ids; `unmatched` if there isn't one.
   */
  observeRequest(method: string, route: string, status: number, seconds: number): void;
  /** Counts a 429 response, by whose limit was used up. */
  observeThrottled(by: 'address' | 'key' | 'application' | 'grant' | 'person' | 'link'): void;
  /**
   * Checks the conditions of `/health/ready` whenever metrics are read.
   * @param check never rejects
   */
  observeChecks(check: () => Promise<readonly (readonly [name: string, holds: boolean])[]>): void;
  /** Returns all metrics as text for Prometheus, with its Content-Type. */
  exposition(): Promise<{ readonly type: string; readonly text: string }>;
}

/**
 * Named readiness conditions; a check that rejects or takes too long has failed. A Refusal's message is public. A check that
 * passes may resolve to a sentence for operators.
 */
export type ReadinessChecks = Readonly<Record<string, () => Promise<string | undefined>>>;
