/** The interfaces of the access log that HTTP needs (docs/spec/decisions.md, section 9, "Access log"). */
import type { AccessEntry } from '#src/shared/access/access-entry.ts';
import type { GivenReceipt } from '#src/shared/access/receipt.ts';

export type { AccessEntry } from '#src/shared/access/access-entry.ts';

/** Notes reads of records. */
export interface AccessLog {
  /**
   * Writes the entries of an answer with their receipts; resolves when they are durable. Nothing of the answer may be sent
   * before.
   * @param others receipts of answers that have no entry
   * @throws Refusal unavailable (503) if they can't be written, also if a record was erased meanwhile
   */
  written(entries: readonly AccessEntry[], others?: readonly GivenReceipt[]): Promise<void>;
  /** Writes a receipt that later entries name. @returns its id @throws as `written` */
  given(receipt: GivenReceipt): Promise<string>;
  /** Writes the entry of a refused read with the next batch, without waiting. */
  note(entry: AccessEntry): void;
}
