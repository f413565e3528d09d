/** Prepares responses for comparison. */
import type { Answer } from '#test/support/service.ts';
import type { Named } from './theirs.ts';

const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const CHANGING = /^(?:date|service-request-id|last-modified|ratelimit.*)$/;

/**
 * Returns a response without the parts that may vary between two requests: the requested names, new ids, times, and the
 * request's own id.
 */
export function shown({ status, headers, text }: Answer, ...asked: readonly Named[]): string {
  const neutral = (value: string): string =>
    asked
      .reduce((rest, { id, marker }) => rest.replaceAll(id, 'ID').replaceAll(marker, 'MARKER'), value)
      .replaceAll(/req_[\w-]+/g, 'REQUEST')
      .replaceAll(UUIDS, 'UUID')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z/g, 'TIME');
  const kept: string[] = [];
  // The size of a compressed body depends on the ids in it.
  const compressed = headers.has('content-encoding');
  headers.forEach((value, name) => {
    if (!CHANGING.test(name) && !(compressed && name === 'content-length'))
      kept.push(`${name}: ${neutral(value)}`);
  });
  return [status, ...kept, neutral(text)].join('\n');
}
