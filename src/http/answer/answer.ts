import type { Readable } from 'node:stream';
import type { ReceiptDraft } from '#src/shared/access/receipt.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** Bytes that are sent as they come. */
export interface Content {
  /** Number of bytes. */
  readonly length: number;
  /** The name of a document's bytes in the document store. */
  readonly blob?: string;
  /** Asked for once, and only where they are sent. */
  readonly open: () => Promise<Readable>;
}

/** The answer to a request, independent of a socket, so that Bundle entries and replays use the same code. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Text, or its UTF-8 bytes if it comes unchanged from the database. */
  readonly body?: string | Buffer;
  /** Used instead of `body`. */
  readonly content?: Content;
  /** Used instead of `body`: text that is produced while it is sent, as fast as the client reads. */
  readonly stream?: AsyncIterable<string | Buffer>;
  /** Recorded time of the version; a Bundle's entry shows it exactly, an HTTP date to the second. */
  readonly lastUpdated?: Micros;
  /** Part of it failed temporarily: a retry with the same Idempotency-Key tries that part again. */
  readonly transient?: boolean;
  /** Resources that it shows, where that is known. */
  readonly shown?: number;
  /** Never compressed, because it contains a secret. */
  readonly plain?: true;
  /** Share of the request's body that was refused or only checked, from 0 to 1. */
  readonly refused?: number;
  /** Contains data that was read, not only written: a purge must find it among stored answers. */
  readonly reads?: boolean;
  /** The parts that it was made of: it is sent when its receipt is written. */
  readonly receipt?: ReceiptDraft;
}

/** Media type of FHIR JSON with its charset (https://hl7.org/fhir/R4/http.html#mime-type). */
export const FHIR_JSON = 'application/fhir+json; charset=utf-8';
