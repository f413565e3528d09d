/** Answers a Bundle's GET and HEAD entries within the budget of the whole response. */
import type { ReadEntry } from '#src/fhir/bundle.ts';
import { type AnswerBudget, isTooCostly } from '#src/shared/load/answer-budget.ts';
import type { FhirRequest, FindInteraction } from '../request.ts';
import { readEntry } from './bundle-read.ts';

/** Number of entries that are read at the same time. */
const GROUP = 16;

/** Reads entries, and reports the outcome for each. */
export interface EntriesRead {
  /** Finds the interaction that an entry's URL names. */
  readonly find: FindInteraction;
  /** Receives the JSON text of an entry's response entry. */
  readonly onText: (entry: ReadEntry, text: string) => void;
  readonly onError: (entry: ReadEntry, error: unknown) => void;
}

/**
 * Reads entries in parallel, each within its share of the remaining budget. An entry that needs more is read again by itself,
 * with the whole remaining budget. So entries that are read at the same time never use more than the budget together.
 * @param budget for all entries together; an entry that doesn't fit fails with 413 `too-costly`
 */
export async function readEntries(
  request: FhirRequest,
  reads: readonly ReadEntry[],
  budget: AnswerBudget,
  { find, onText, onError }: EntriesRead,
): Promise<void> {
  const read = async (entry: ReadEntry, share: number): Promise<boolean> => {
    const part = budget.part({
      bytes: Math.floor(budget.bytesLeft / share),
      resources: Math.floor(budget.resourcesLeft / share),
    });
    try {
      // Stops reading if the time limit has passed.
      part.take(0, 0);
      const text = await readEntry({ ...request, budget: part }, entry, find);
      part.settle(Buffer.byteLength(text));
      onText(entry, text);
    } catch (error) {
      part.giveBack();
      if (share > 1 && isTooCostly(error)) return false;
      onError(entry, error);
    }
    return true;
  };
  for (let start = 0; start < reads.length; start += GROUP) {
    const ended = await confirmAccess(request);
    if (ended !== undefined) {
      for (const entry of reads.slice(start)) onError(entry, ended);
      return;
    }
    const group = reads.slice(start, start + GROUP);
    const done = await Promise.all(group.map((entry) => read(entry, group.length)));
    for (const [n, entry] of group.entries()) if (done[n] === false) await read(entry, 1);
  }
}

/** Returns an error if the access token no longer works, because a Bundle may take long to process. */
async function confirmAccess({ confirm }: FhirRequest): Promise<unknown> {
  try {
    await confirm?.();
    return undefined;
  } catch (error) {
    return error;
  }
}
