import type { Readable } from 'node:stream';
import type { Micros } from '#src/shared/time.ts';

/** Bytes that are sent as they come. */
export interface Content {
  /** How many. */
  readonly length: number;
  /** Asked for once, and only where they are sent. */
  readonly open: () => Promise<Readable>;
}

/** What a request comes to, before it touches a socket: so that Bundle entries and replays are answered by the same code. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Text, or its UTF-8 where that came from the database as it is. */
  readonly body?: string | Buffer;
  /** In the place of `body`. */
  readonly content?: Content;
  /** In the place of `body`: text that is made while it is sent, as fast as its reader takes it. */
  readonly stream?: AsyncIterable<string | Buffer>;
  /** When the version that it shows was recorded: a Bundle's entry tells it exactly, an HTTP date to the second. */
  readonly lastUpdated?: Micros;
  /** Part of it failed for reasons that pass: under an Idempotency-Key a retry tries that part again. */
  readonly transient?: boolean;
  /** It is never compressed: it holds a secret. */
  readonly plain?: true;
  /** Which share of the request's body was refused, or looked at without being stored, from 0 to 1. */
  readonly refused?: number;
  /** It holds what was read, beside or instead of what was written: a purge must find it among kept answers. */
  readonly reads?: boolean;
}

/** Media type of FHIR JSON with its charset (https://hl7.org/fhir/R4/http.html#mime-type). */
export const FHIR_JSON = 'application/fhir+json; charset=utf-8';
