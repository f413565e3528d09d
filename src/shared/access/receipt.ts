/** Receipts: what an answer was made of, so that it can be made again, and the hash of what was sent (docs/receipts.md). */
import type { JsonObject } from '../json/json.ts';
import type { Micros } from '../time/time.ts';
import type { Caller } from './caller.ts';

/** The answers that have a receipt. */
export const RECEIPT_KINDS = ['context', 'summary', 'mcp', 'link'] as const;

export type ReceiptKind = (typeof RECEIPT_KINDS)[number];

/** One version of a resource of the record. */
export interface NamedVersion {
  readonly id: string;
  readonly version: number;
}

/** The parts that an answer was made of. */
export interface ReceiptDraft {
  readonly kind: ReceiptKind;
  /** The version of the rules by which answers of this kind are made. */
  readonly form: number;
  /** The record: the real id of its Patient. */
  readonly record: string;
  /**
   * When the last change of the record that the answer knows of was recorded: no two changes of a record have the same
   * time. Null if the answer is made only of the versions that it names.
   */
  readonly position: Micros | null;
  /** An id by which the answer itself can be found: a context's `manifest_id`. */
  readonly name: string | null;
  /** The request, and the rights under which it was made. */
  readonly parameters: JsonObject;
  /** The versions that the answer shows, in its order. */
  readonly versions: readonly NamedVersion[];
  /** The data that was looked up outside of the record's stream. */
  readonly inputs: JsonObject;
}

/** An answer that was sent, and the parts that it was made of. */
export interface GivenReceipt extends ReceiptDraft {
  /** Who got it: `grant/…`, `key/key_…`, `application/app_…`, `link/shl_…` or `member`. */
  readonly reader: string;
  /** SHA-256 of the bytes that were sent, before they were indented or compressed. */
  readonly sha256: Buffer;
}

/** Returns who gets an answer, as receipts name them. */
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
