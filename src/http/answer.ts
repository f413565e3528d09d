import type { Micros } from '#src/shared/time.ts';

/** What a request comes to, before it touches a socket: so that Bundle entries and replays are answered by the same code. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** When the version that it shows was recorded: a Bundle's entry tells it exactly, an HTTP date to the second. */
  readonly lastUpdated?: Micros;
  /** Part of it failed for reasons that pass: under an Idempotency-Key a retry tries that part again. */
  readonly transient?: boolean;
}

/** Media type of FHIR JSON with its charset (https://hl7.org/fhir/R4/http.html#mime-type). */
export const FHIR_JSON = 'application/fhir+json; charset=utf-8';
