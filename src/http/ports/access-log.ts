/** The interfaces of the access log that HTTP needs (docs/spec/decisions.md, section 9, "Access log"). */
import type { AccessEntry } from '#src/shared/access/access-entry.ts';

export type { AccessEntry } from '#src/shared/access/access-entry.ts';

/** Notes reads of records. */
export interface AccessLog {
  /**
   * Writes the entries of an answer; resolves when they are durable. Nothing of the answer may be sent before.
   * @throws Refusal unavailable (503) if they can't be written, also if a record was erased meanwhile
   */
  written(entries: readonly AccessEntry[]): Promise<void>;
  /** Writes the entry of a refused read with the next batch, without waiting. */
  note(entry: AccessEntry): void;
}
