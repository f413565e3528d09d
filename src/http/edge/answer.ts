/** Prepares responses under a grant for sending: references to other records are removed, and then ids are exchanged. */

import type { Surroundings } from '#src/fhir/references/foreign.ts';
import { exchangeIds, keepWithin, outwardText, startOfLastId } from '#src/fhir/references/outward.ts';
import type { IdExchange } from '#src/shared/access/id-exchange.ts';
import type { Answer } from '../answer/answer.ts';

/** The media types of JSON: FHIR's own and the generic one. */
const JSON_TYPE = /^application\/(?:fhir\+)?json\b/;

/**
 * Returns a response as the application receives it.
 * @throws the same errors as `Surroundings.within`
 */
export async function outwardAnswer(answer: Answer, ids: IdExchange, around: Surroundings): Promise<Answer> {
  const headers = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [name, ids.outward(value)]),
  );
  const { body, stream } = answer;
  const looked = JSON_TYPE.test(answer.headers['Content-Type'] ?? '') ? around : undefined;
  if (stream !== undefined) return { ...answer, headers, stream: outwardStream(stream, ids, looked) };
  if (body === undefined) return { ...answer, headers };
  const text = asText(body);
  const shown = await outwardText(text, ids, looked);
  if (shown === text) return { ...answer, headers };
  return { ...answer, headers, body: typeof body === 'string' ? shown : Buffer.from(shown, 'latin1') };
}

/** Returns a string with one character per character or byte of the body. Bytes are enough, because ids are ASCII. */
function asText(body: string | Buffer): string {
  return typeof body === 'string' ? body : body.toString('latin1');
}

/**
 * Yields a stream as the application receives it. If a piece ends with what may be the beginning of an id, that part is held
 * back until the next piece arrives.
 * @param around undefined: references aren't checked
 */
async function* outwardStream(
  stream: AsyncIterable<string | Buffer>,
  ids: IdExchange,
  around: Surroundings | undefined,
): AsyncGenerator<Buffer, undefined> {
  let waiting = '';
  for await (const piece of stream) {
    const text = Buffer.from(piece).toString('latin1');
    const all = waiting + (around === undefined ? text : await keepWithin(text, around));
    const end = startOfLastId(all);
    waiting = all.slice(end);
    if (end > 0) yield Buffer.from(await exchangeIds(all.slice(0, end), ids), 'latin1');
  }
  if (waiting !== '') yield Buffer.from(ids.outward(waiting), 'latin1');
}
