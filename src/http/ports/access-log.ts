/** Defines the access-log interfaces that HTTP needs (docs/spec/decisions.md, section 9, "Access log"). */
import type { AccessEntry } from '#src/shared/access/access-entry.ts';
import type { GivenReceipt } from '#src/shared/access/receipt.ts';

export type { AccessEntry } from '#src/shared/access/access-entry.ts';

/** Records reads of records. */
export interface AccessLog {
  /**
   * Writes a response's entries with their receipts; resolves when they are durable. Nothing of the response may be sent
   * before that.
   * @param others receipts for responses that have no entry
   * @throws Refusal unavailable (503) if they can't be written, including when a record has been erased in the meantime
   */
  written(entries: readonly AccessEntry[], others?: readonly GivenReceipt[]): Promise<void>;
  /**
   * Writes a receipt that later entries name.
   * @returns its id
   * @throws when `written` does
   */
  given(receipt: GivenReceipt): Promise<string>;
  /** Writes the entry for a refused read with the next batch, without waiting. */
  note(entry: AccessEntry): void;
}
