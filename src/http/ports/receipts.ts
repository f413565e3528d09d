/** Defines the interface for receipts that HTTP needs; `src/app/receipts/` implements it. */
import type { NamedVersion, ReceiptKind } from '#src/shared/access/receipt.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** A receipt, with the reproduced response. */
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
  /** The missing input because of which the response can't be reproduced. */
  readonly missing: string | null;
  /** The response that was sent; null if it couldn't be reproduced. */
  readonly content: string | null;
}

/** Reproduces responses from their receipts, without checking rights. */
export interface RemadeReceipts {
  /** Returns the record that a receipt is about; undefined if the receipt doesn't exist. */
  readonly recordOf: (id: string) => Promise<string | undefined>;
  /**
   * Reproduces the response from a receipt; undefined if the record has no receipt with this id.
   * @throws Refusal too_large (413) if the record is too large
   */
  readonly show: (record: string, id: string) => Promise<ShownReceipt | undefined>;
}
