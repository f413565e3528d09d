/** Creates receipts for responses: the hash of the bytes sent, and what a grant's edge changed in them. */
import { createHash } from 'node:crypto';
import type { Caller } from '#src/shared/access/caller.ts';
import { type GivenReceipt, nameReader, type ReceiptDraft } from '#src/shared/access/receipt.ts';
import type { Answer } from '../answer/answer.ts';
import type { Edge } from './edge.ts';

/** Returns the receipt for a response to a project that acts in its own name. */
export function giveReceipt(
  caller: Pick<Caller, 'calls'>,
  draft: ReceiptDraft,
  { body = '' }: Pick<Answer, 'body'>,
): GivenReceipt {
  return { ...draft, reader: nameReader(caller), sha256: createHash('sha256').update(body).digest() };
}

/**
 * Returns a response as an application receives it under a grant, with its receipt.
 * @param draft the draft of the response's receipt
 */
export async function giveOutward(
  caller: Pick<Caller, 'calls'>,
  draft: ReceiptDraft,
  answer: Answer,
  edge: Edge,
): Promise<{ readonly shown: Answer; readonly receipt: GivenReceipt }> {
  const foreign = new Set<string>();
  const shown = await edge.answer(answer, foreign);
  const outward = { patient: edge.grant.patient, base: edge.base, foreign: [...foreign] };
  const inputs = { ...draft.inputs, outward };
  return { shown, receipt: giveReceipt(caller, { ...draft, inputs }, shown) };
}
