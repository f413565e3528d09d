/**
 * Returns a record's text as an application under a grant sees it: without references to other records, and with the ids that
 * the application uses.
 */
import type { IdExchange } from '#src/shared/access/id-exchange.ts';
import { inSlices, type Steps } from '#src/shared/load/slices.ts';
import { foreignTypes, type Surroundings, withoutForeignDocuments } from './foreign.ts';
import { withoutReferences } from './reference-edits.ts';

/**
 * Returns a text as the application receives it. The text may be UTF-8 decoded as Latin-1, because ids are ASCII.
 * @param around if undefined, references aren't checked
 * @throws the same errors as `Surroundings.within`
 */
export async function outwardText(
  text: string,
  ids: IdExchange,
  around: Surroundings | undefined,
): Promise<string> {
  return exchangeIds(around === undefined ? text : await keepWithin(text, around), ids);
}

/** Returns JSON text without references to other records and without the ids of those records' documents. */
export async function keepWithin(text: string, around: Surroundings): Promise<string> {
  const types = await foreignTypes(text, around);
  const own =
    types.size === 0 ? text : await inSlices(withoutReferences(text, (reference) => types.get(reference)));
  return withoutForeignDocuments(own, around);
}

/** Exchanges the ids in a text. */
export function exchangeIds(text: string, ids: IdExchange): Promise<string> {
  return inSlices(exchanged(text, ids));
}

/** The number of characters processed in one step. */
const STEP = 500_000;

/** Exchanges the ids in a long text, in steps. */
function* exchanged(text: string, ids: IdExchange): Steps<string> {
  if (text.length <= STEP) return ids.outward(text);
  const parts: string[] = [];
  for (let from = 0; from < text.length; ) {
    const to = text.length - from <= STEP ? text.length : endOfIds(text, from + STEP);
    parts.push(ids.outward(text.slice(from, to)));
    from = to;
    yield;
  }
  return parts.join('');
}

const ID_CHARACTER = /[0-9A-Fa-f-]/;

/** Returns the first position at or after a given one where the character can't be part of an id. */
function endOfIds(text: string, at: number): number {
  let end = at;
  while (end < text.length && ID_CHARACTER.test(text.charAt(end))) end += 1;
  return end;
}

/** Returns the position after the last character that can't be part of an id. */
export function startOfLastId(text: string): number {
  let start = text.length;
  while (start > 0 && ID_CHARACTER.test(text.charAt(start - 1))) start -= 1;
  return start;
}
