/** Counts and logs of requests. */

/** The state of a subject's limit after a request. */
export interface Standing {
  readonly admitted: boolean;
  /** The unused part of the window's budget, as far as this instance knows. */
  readonly remaining: number;
  /** Seconds until the next window, at least 1. */
  readonly seconds: number;
}

/** A request that was answered, as its project's request log shows it. */
export interface LoggedRequest {
  readonly requestId: string;
  /** Microseconds since 1970. */
  readonly at: number;
  readonly project: string;
  readonly environment: string | null;
  readonly keyId: string | null;
  /** The application to which an access token belongs. */
  readonly applicationId?: string;
  readonly identity: string | null;
  readonly method: string;
  /** Without the query string, and without path segments that are neither ids nor in the URL's pattern. */
  readonly path: string;
  /** The patient whose purge deletes this request; set if the path contains a different id for the patient. */
  readonly named?: string;
  readonly status: number;
  readonly ms: number;
  /** Why the request was refused, as returned by `describeError`. */
  readonly error?: string;
}
