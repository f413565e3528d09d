/** Answers under a grant on their way out: references into other records are left out, then ids are exchanged. */

import type { Surroundings } from '#src/fhir/references/foreign.ts';
import { exchangeIds, keepWithin, outwardText, startOfLastId } from '#src/fhir/references/outward.ts';
import type { IdExchange } from '#src/shared/access/id-exchange.ts';
import type { Answer } from '../answer/answer.ts';

/** JSON, by its FHIR name and its generic one. */
const JSON_TYPE = /^application\/(?:fhir\+)?json\b/;

/** Returns an answer as the application gets it. @throws as `Surroundings.within` */
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

/** Returns a text whose characters are those of the body or, because ids are ASCII, its bytes. */
function asText(body: string | Buffer): string {
  return typeof body === 'string' ? body : body.toString('latin1');
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
    const all = waiting + (around === undefined ? text : await keepWithin(text, around));
    const end = startOfLastId(all);
    waiting = all.slice(end);
    if (end > 0) yield Buffer.from(await exchangeIds(all.slice(0, end), ids), 'latin1');
  }
  if (waiting !== '') yield Buffer.from(ids.outward(waiting), 'latin1');
}
