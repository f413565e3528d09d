/** Makes the answers of receipts again, and compares them with what was sent. */
import { createHash } from 'node:crypto';
import { isUnaltered } from '#src/operations/receipts/receipts.ts';
import type { ReceiptRow } from '#src/operations/receipts/row.ts';
import { InputGone } from '#src/receipts/material.ts';
import { renderAnswer } from '#src/receipts/render.ts';
import { type Archive, loadMaterial } from './load.ts';

/** The outcome: the bytes that were sent, or why there are none. */
export type Remade =
  | { readonly outcome: 'matches'; readonly bytes: Buffer }
  /** The receipt isn't as it was written. */
  | { readonly outcome: 'altered' }
  /** Made again, the answer is another one. */
  | { readonly outcome: 'differs'; readonly bytes: Buffer }
  /** An input no longer exists; the hash still proves what was sent. */
  | { readonly outcome: 'gone'; readonly what: string };

/**
 * Makes the answer of a receipt again.
 * @throws StreamDeleted if the record was purged meanwhile; UnreadableEvent, NewerEvent
 */
export async function remakeAnswer(archive: Archive, row: ReceiptRow): Promise<Remade> {
  if (!isUnaltered(row)) return { outcome: 'altered' };
  const material = await loadMaterial(archive, row);
  try {
    const bytes = await renderAnswer(material);
    return { outcome: isSent(bytes, row) ? 'matches' : 'differs', bytes };
  } catch (error) {
    if (error instanceof InputGone) return { outcome: 'gone', what: error.message };
    throw error;
  }
}

function isSent(bytes: Buffer, { sha256 }: ReceiptRow): boolean {
  return createHash('sha256').update(bytes).digest().equals(sha256);
}
