/** Defines the access-log interfaces that HTTP needs (docs/spec/decisions.md, section 9, "Access log"). */
import type { AccessEntry } from '#src/shared/access/access-entry.ts';
import type { GivenReceipt } from '#src/shared/access/receipt.ts';

export type { AccessEntry } from '#src/shared/access/access-entry.ts';

/** Records the reads of records. */
export interface AccessLog {
  /**
   * Writes the access-log entries for a response, with their receipts. Resolves when they are durable; no part of the response
   * may be sent before that.
   * @param others receipts for responses that have no entry
   * @throws Refusal unavailable (503) if they can't be written, for example because a record has been erased in the meantime
   */
  written(entries: readonly AccessEntry[], others?: readonly GivenReceipt[]): Promise<void>;
  /**
   * Writes a receipt to which later entries refer.
   * @returns its id
   * @throws as `written` does
   */
  given(receipt: GivenReceipt): Promise<string>;
  /** Adds the entry for a refused read to the next batch, without waiting for it to be written. */
  note(entry: AccessEntry): void;
}
