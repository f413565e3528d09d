/** A service's metrics. */
export interface Metrics {
  /**
   * Counts one request.
   * @param route the pattern (`/fhir/R4/:type/:id`), never the path, which contains ids; `unmatched` if no route matches
   */
  observeRequest(method: string, route: string, status: number, seconds: number): void;
  /**
   * Counts a 429 response.
   * @param by whose limit was used up
   */
  observeThrottled(by: 'address' | 'key' | 'application' | 'grant' | 'person' | 'link'): void;
  /**
   * Checks the conditions for `/health/ready` whenever metrics are read.
   * @param check must never reject
   */
  observeChecks(check: () => Promise<readonly (readonly [name: string, holds: boolean])[]>): void;
  /** Returns all metrics as text for Prometheus, with the Content-Type of that text. */
  exposition(): Promise<{ readonly type: string; readonly text: string }>;
}

/**
 * Readiness conditions, by name. A check that rejects or takes too long has failed; if it rejects with a Refusal, the message
 * is public. A check that passes may resolve to a sentence for operators.
 */
export type ReadinessChecks = Readonly<Record<string, () => Promise<string | undefined>>>;
