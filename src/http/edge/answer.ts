/** Answers under a grant on their way out: references into other records are left out, then ids are exchanged. */

import { withoutReferences } from '#src/fhir/references/reference-edits.ts';
import { inSlices, type Steps } from '#src/shared/load/slices.ts';
import type { Answer } from '../answer/answer.ts';
import type { IdExchange } from './ids.ts';
import { foreignTypes, type Surroundings, withoutForeignDocuments } from './references.ts';

/** JSON, by its FHIR name and its generic one. */
const JSON_TYPE = /^application\/(?:fhir\+)?json\b/;

/** Returns an answer as the application gets it. @throws as `Surroundings.within` */
export async function outwardAnswer(answer: Answer, ids: IdExchange, around: Surroundings): Promise<Answer> {
  const headers = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [name, ids.outward(value)]),
  );
  const { body, stream } = answer;
  const isJson = JSON_TYPE.test(answer.headers['Content-Type'] ?? '');
  if (stream !== undefined)
    return { ...answer, headers, stream: outwardStream(stream, ids, isJson ? around : undefined) };
  if (body === undefined) return { ...answer, headers };
  const text = asText(body);
  const within = isJson ? await withinRecord(text, around) : text;
  const shown = await inSlices(exchanged(within, ids));
  if (shown === text) return { ...answer, headers };
  return { ...answer, headers, body: typeof body === 'string' ? shown : Buffer.from(shown, 'latin1') };
}

/** Returns a text whose characters are those of the body or, because ids are ASCII, its bytes. */
function asText(body: string | Buffer): string {
  return typeof body === 'string' ? body : body.toString('latin1');
}

/** Returns JSON text without references into other records, and without ids of their documents. */
async function withinRecord(text: string, around: Surroundings): Promise<string> {
  const types = await foreignTypes(text, around);
  const own =
    types.size === 0 ? text : await inSlices(withoutReferences(text, (reference) => types.get(reference)));
  return withoutForeignDocuments(own, around);
}

/** Characters that are exchanged in one step. */
const STEP = 500_000;

/** Exchanges the ids of a long text in steps. */
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

/** Returns the first place, at or after another, that isn't within characters that may be an id. */
function endOfIds(text: string, at: number): number {
  let end = at;
  while (end < text.length && ID_CHARACTER.test(text.charAt(end))) end += 1;
  return end;
}

/** Returns the place after the last character that can't be part of an id. */
function startOfLastId(text: string): number {
  let start = text.length;
  while (start > 0 && ID_CHARACTER.test(text.charAt(start - 1))) start -= 1;
  return start;
}

/**
 * Yields a stream as the application gets it. If a piece ends with a possible beginning of an id, that waits for the
 * next piece.
 * @param around undefined: references aren't looked at
 */
async function* outwardStream(
  stream: AsyncIterable<string | Buffer>,
  ids: IdExchange,
  around: Surroundings | undefined,
): AsyncGenerator<Buffer, undefined> {
  let waiting = '';
  for await (const piece of stream) {
    const text = Buffer.from(piece).toString('latin1');
    const all = waiting + (around === undefined ? text : await withinRecord(text, around));
    const end = startOfLastId(all);
    waiting = all.slice(end);
    if (end > 0) yield Buffer.from(await inSlices(exchanged(all.slice(0, end), ids)), 'latin1');
  }
  if (waiting !== '') yield Buffer.from(ids.outward(waiting), 'latin1');
}
