/**
 * Receipts: what an answer was made from, so that the answer can be recreated, and the hash of what was sent
 * (docs/receipts.md).
 */
import type { JsonObject } from '../json/json.ts';
import type { Micros } from '../time/time.ts';
import type { Caller } from './caller.ts';

/** The kinds of answers that have a receipt. */
export const RECEIPT_KINDS = ['context', 'summary', 'mcp', 'link'] as const;

export type ReceiptKind = (typeof RECEIPT_KINDS)[number];

/** One version of a resource in the record. */
export interface NamedVersion {
  readonly id: string;
  readonly version: number;
}

/** The data from which an answer was made. */
export interface ReceiptDraft {
  readonly kind: ReceiptKind;
  /** The version of the rules for making answers of this kind. */
  readonly form: number;
  /** The record: the real id of its Patient. */
  readonly record: string;
  /**
   * The time at which the last change to the record that the answer includes was recorded; no two changes to a record have the
   * same time. Null if the answer is made only from the versions that it names.
   */
  readonly position: Micros | null;
  /** An id by which the answer itself can be found; for a context, its `manifest_id`. */
  readonly name: string | null;
  /** The request, and the rights under which it was made. */
  readonly parameters: JsonObject;
  /** The versions that the answer shows, in the same order. */
  readonly versions: readonly NamedVersion[];
  /** The data that was looked up outside the record's stream. */
  readonly inputs: JsonObject;
}

/** An answer that was sent, and the data from which it was made. */
export interface GivenReceipt extends ReceiptDraft {
  /** Who received the answer: `grant/…`, `key/key_…`, `application/app_…`, `link/shl_…` or `member`. */
  readonly reader: string;
  /** SHA-256 of the bytes sent, before indentation and compression. */
  readonly sha256: Buffer;
}

/** Returns who received an answer, in the form that receipts use. */
export function nameReader({ calls: { credential } }: Pick<Caller, 'calls'>): string {
  switch (credential.kind) {
    case 'grant':
      return `grant/${credential.grantId}`;
    case 'api_key':
      return `key/${credential.keyId}`;
    case 'client':
      return `application/${credential.applicationId}`;
    case 'shared_link':
      return `link/${credential.linkId}`;
    case 'member':
    case 'person':
      return credential.kind;
  }
}
