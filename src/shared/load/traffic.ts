/** The counts and notes of requests. */

/** The state of a subject's limit after a request. */
export interface Standing {
  readonly admitted: boolean;
  /** The rest of the window's budget, as far as this instance knows. */
  readonly remaining: number;
  /** Seconds until the next window, at least 1. */
  readonly seconds: number;
}

/** A request that was answered, as its project's log shows it. */
export interface LoggedRequest {
  readonly requestId: string;
  /** Microseconds since 1970. */
  readonly at: number;
  readonly project: string;
  readonly environment: string | null;
  readonly keyId: string | null;
  /** The application, for access tokens. */
  readonly applicationId?: string;
  readonly identity: string | null;
  readonly method: string;
  /** Without the query string, and without parts that are neither an id nor in the URL's pattern. */
  readonly path: string;
  /** The patient whose purge removes it, if the path shows another id for it. */
  readonly named?: string;
  readonly status: number;
  readonly ms: number;
  /** Why it was refused, as `describeError` returns it. */
  readonly error?: string;
}
