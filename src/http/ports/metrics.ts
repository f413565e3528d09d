/** The metrics of one service. */
export interface Metrics {
  /**
   * Counts one request.
   * @param route the pattern (`/fhir/R4/:type/:id`), never the path, which holds ids; `unmatched` if there is none.
   */
  observeRequest(method: string, route: string, status: number, seconds: number): void;
  /** Counts an answer of 429, by whose limit was used up. */
  observeThrottled(by: 'address' | 'key' | 'application' | 'grant' | 'person' | 'link'): void;
  /** Checks the conditions of `/health/ready` whenever metrics are read. @param check never rejects */
  observeChecks(check: () => Promise<readonly (readonly [name: string, holds: boolean])[]>): void;
  /** Returns all metrics as text for Prometheus, with its Content-Type. */
  exposition(): Promise<{ readonly type: string; readonly text: string }>;
}

/**
 * Named conditions of readiness; a check that rejects, or takes too long, fails. Everybody may read a Refusal's message.
 * A check that passes may resolve to a sentence that operators should read.
 */
export type ReadinessChecks = Readonly<Record<string, () => Promise<string | undefined>>>;
