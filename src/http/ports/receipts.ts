/** The interface of receipts that HTTP needs; `src/app/receipts/` implements it. */
import type { NamedVersion, ReceiptKind } from '#src/shared/access/receipt.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** A receipt, and its answer made again. */
export interface ShownReceipt {
  readonly id: string;
  readonly madeAt: Micros;
  readonly kind: ReceiptKind;
  /** Who got the answer. */
  readonly reader: string;
  readonly position: Micros | null;
  readonly versions: readonly NamedVersion[];
  readonly renderer: string;
  /** Hexadecimal. */
  readonly sha256: string;
  readonly outcome: 'matches' | 'differs' | 'altered' | 'gone';
  /** The input that no longer exists. */
  readonly missing: string | null;
  /** The answer that was sent; null if it couldn't be made again. */
  readonly content: string | null;
}

/** Receipts of records. It checks no right. */
export interface RemadeReceipts {
  /** Returns the record of a receipt; undefined if there is none. */
  readonly recordOf: (id: string) => Promise<string | undefined>;
  /**
   * Makes the answer of a receipt again; undefined if the record has none with this id.
   * @throws Refusal too_large (413) for a record that is too large for it
   */
  readonly show: (record: string, id: string) => Promise<ShownReceipt | undefined>;
}
