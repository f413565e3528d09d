/** Makes the answers of receipts again, and compares them with those that were sent. */
import { createHash } from 'node:crypto';
import { nameProgram } from '#src/operations/receipts/program.ts';
import { isUnaltered } from '#src/operations/receipts/receipts.ts';
import type { ReceiptRow } from '#src/operations/receipts/row.ts';
import { InputGone, type Material } from '#src/receipts/material.ts';
import { type Archive, loadMaterial } from './load.ts';

/** The outcome: the bytes that were sent, or why there are none. */
export type Remade =
  /** `archived`: the renderer of another version of the program made it. */
  | { readonly outcome: 'matches'; readonly bytes: Buffer; readonly archived: boolean }
  /** The receipt isn't as it was written. */
  | { readonly outcome: 'altered' }
  /** Made again, the answer is another one. */
  | { readonly outcome: 'differs'; readonly bytes: Buffer }
  /** An input no longer exists; the hash still proves what was sent. */
  | { readonly outcome: 'gone'; readonly what: string };

/**
 * Makes the answer of a receipt again: by this program's renderer, and by the archived one if that gives another answer.
 * @throws StreamDeleted if the record was purged meanwhile; UnreadableEvent, NewerEvent
 */
export async function remakeAnswer(archive: Archive, row: ReceiptRow): Promise<Remade> {
  if (!isUnaltered(row)) return { outcome: 'altered' };
  const material = await loadMaterial(archive, row);
  const program = row.renderer.replace(/^.*-/, '');
  const isOwn = program === nameProgram();
  // Loaded only here: it brings the packages of every kind of answer.
  const { renderAnswer } = await import('#src/receipts/render.ts');
  const render = (): Promise<Buffer | undefined> =>
    isOwn ? renderAnswer(material) : tryRenderer(renderAnswer, material, row);
  try {
    const own = await render();
    if (own !== undefined && isSent(own, row)) return { outcome: 'matches', bytes: own, archived: false };
    const bytes = isOwn ? own : await archive.renderers.render(program, material);
    if (bytes === undefined)
      return { outcome: 'gone', what: `the renderer ${row.renderer} is no longer kept` };
    return isSent(bytes, row) ? { outcome: 'matches', bytes, archived: true } : { outcome: 'differs', bytes };
  } catch (error) {
    if (error instanceof InputGone) return { outcome: 'gone', what: error.message };
    throw error;
  }
}

/** Returns what this program makes of another one's material; undefined if that isn't the answer that was sent. */
async function tryRenderer(
  renderAnswer: (material: Material) => Promise<Buffer>,
  material: Material,
  row: ReceiptRow,
): Promise<Buffer | undefined> {
  try {
    const bytes = await renderAnswer(material);
    return isSent(bytes, row) ? bytes : undefined;
  } catch {
    return undefined;
  }
}

function isSent(bytes: Buffer, { sha256 }: ReceiptRow): boolean {
  return createHash('sha256').update(bytes).digest().equals(sha256);
}
