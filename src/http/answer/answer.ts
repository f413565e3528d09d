import type { Readable } from 'node:stream';
import type { ReceiptDraft } from '#src/shared/access/receipt.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** Bytes that are sent while they are being read from storage. */
export interface Content {
  /** Number of bytes. */
  readonly length: number;
  /** The name of the content in the document store, if it is a document. */
  readonly blob?: string;
  /** Called once, and only if the bytes are sent. */
  readonly open: () => Promise<Readable>;
}

/** The response to a request. It doesn't depend on a socket, so that Bundle entries and replays use the same code. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Text, or its UTF-8 bytes if they are passed on unchanged from the database. */
  readonly body?: string | Buffer;
  /** Used instead of `body`. */
  readonly content?: Content;
  /** Used instead of `body`: text produced while it is being sent, as fast as the client reads. */
  readonly stream?: AsyncIterable<string | Buffer>;
  /** When the version was recorded. A Bundle entry shows this time exactly; an HTTP date shows it to the second. */
  readonly lastUpdated?: Micros;
  /** True if part of the request failed temporarily: a retry with the same Idempotency-Key tries that part again. */
  readonly transient?: boolean;
  /** Number of resources shown, if known. */
  readonly shown?: number;
  /** Prevents compression, because the body contains a secret. */
  readonly plain?: true;
  /** Fraction of the request body that was refused or only checked, from 0 to 1. */
  readonly refused?: number;
  /**
   * True if the response contains data that was read, and not only data that the request wrote. A purge must then find it
   * among the stored responses.
   */
  readonly reads?: boolean;
  /** The parts from which the response was made. The response is sent once its receipt is written. */
  readonly receipt?: ReceiptDraft;
}

/** Media type for FHIR JSON with its charset (https://hl7.org/fhir/R4/http.html#mime-type). */
export const FHIR_JSON = 'application/fhir+json; charset=utf-8';
