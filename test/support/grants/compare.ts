/** Prepares responses to an application and responses from the model for comparison, and searches them for ids. */
import { Answer } from '../service.ts';

/** Headers that vary between any two requests, or between callers. */
const CHANGING =
  /^(?:date|service-request-id|ratelimit.*|content-length|content-encoding|connection|keep-alive|vary)$/;

/** Returns a response without request ids, cursors, today's times, and the ids of contexts and summaries. */
export function comparable({ status, headers, text }: Answer): string {
  const kept: string[] = [];
  headers.forEach((value, name) => {
    if (!CHANGING.test(name)) kept.push(`${name}: ${name === 'last-modified' ? ofToday(value) : value}`);
  });
  return [status, ...kept, neutral(text)].join('\n');
}

/** Replaces today's times. Terminology resources are as old as the service, while worlds are from 2023. */
function ofToday(value: string): string {
  return value.includes('2023') ? value : 'TODAY';
}

function neutral(text: string): string {
  const found = text
    .replace(/req_[\w-]+/g, 'REQUEST')
    .replace(/([?&]_cursor=)[\w%-]+/g, '$1CURSOR')
    .replace(/"next_cursor":"[^"]+"/g, '"next_cursor":"CURSOR"')
    .replace(/"manifest_id":"[^"]+"/g, '"manifest_id":"ID"')
    .replace(/"created_at":"[^"]+"/g, '"created_at":"TIME"')
    .replace(/urn:uuid:[\w-]{36}/g, 'URN')
    .replace(/"timestamp":"[^"]+"/g, '"timestamp":"TIME"')
    .replace(/"lastUpdated":"(?!2023)[^"]+"/g, '"lastUpdated":"TODAY"');
  if (text.includes('"tokenizer"')) return neutralContext(found);
  if (!text.includes('"type":"document"')) return found;
  return (
    found
      // The model isn't aware that its record is incomplete.
      .replace(
        /<p>(?:Made of the part of the record that|The grant of this application covers a part)[^<]*<\/p>/g,
        '',
      )
      .replace(
        /<p>(?:The grant of this application doesn't cover|This record holds no information)[^<]*<\/p>/g,
        '<p>none</p>',
      )
      .replace(/("resourceType":"(?:Bundle|Composition)","id":")[\w-]{36}/g, '$1ID')
      .replace(/"date":"[^"]+"/g, '"date":"TIME"')
      .replace(/Made<\/th><td>[^<]+/g, 'Made</th><td>TIME')
  );
}

/** Returns a context without its statements about the grant, because the model isn't aware that its record is incomplete. */
function neutralContext(text: string): string {
  const context = JSON.parse(text) as { readonly warnings?: readonly { readonly kind: string }[] };
  const warnings = (context.warnings ?? []).filter(({ kind }) => kind !== 'gap');
  return JSON.stringify({ ...context, warnings })
    .replace(/"tokens(?:_used)?":\d+/g, '"tokens":0')
    .replace(/not covered by the grant/gi, 'none recorded')
    .replace(/None recorded/g, 'none recorded')
    .replace(/; the grant covers a part of them/g, '')
    .replace(/the part of the record that the grant covers has nothing for/g, 'nothing is recorded for');
}

/** Returns a response without the Provenances that a search includes. */
export function withoutAutomatic({ status, headers, text }: Answer): Answer {
  const included =
    /,?\{"fullUrl":"[^"]+\/Provenance\/[^"]+","resource":\{(?:(?!"fullUrl").)*"search":\{"mode":"include"\}\}/g;
  return new Answer(status, headers, text.replace(included, ''));
}

/** Returns the first place at which two texts differ, with the content of both; undefined if the texts are the same. */
export function differenceOf(one: string, other: string): string | undefined {
  if (one === other) return undefined;
  let at = 0;
  while (one[at] === other[at]) at += 1;
  const around = (text: string) => text.slice(Math.max(0, at - 160), at + 480);
  return `\n  application: ${around(one)}\n  model:       ${around(other)}`;
}

/** Returns the link to the next page; undefined on the last page. */
export function nextOf(text: string, url: string): string | undefined {
  const [, link] = /"relation":"next","url":"([^"]+)"/.exec(text) ?? [];
  if (link !== undefined) return new URL(link).pathname + new URL(link).search;
  const [, cursor] = /"next_cursor":"([^"]+)"/.exec(text) ?? [];
  if (cursor === undefined) return undefined;
  const [path = '', query = ''] = url.split('?');
  const further = new URLSearchParams(query);
  further.set('cursor', cursor);
  return `${path}?${further}`;
}

/** Returns the forms in which a response shows an id: in plain text, in a different case, percent-encoded, in base64. */
export function formsIn(id: string, { text, headers }: Answer): string[] {
  const all = [text, ...[...headers].map(([, value]) => value)].join('\n');
  const found: string[] = [];
  if (all.toLowerCase().includes(id)) found.push('clear');
  const decoded = all.replace(/%[0-9a-f]{2}/gi, (one) =>
    String.fromCharCode(Number.parseInt(one.slice(1), 16)),
  );
  if (decoded.toLowerCase().includes(id)) found.push('percent-encoded');
  // Base64 of a text that contains the id at any of three alignments. Cursors are such texts.
  for (const word of all.match(/[\w+/=-]{24,}/g) ?? [])
    for (let from = 0; from < 4; from += 1)
      if (Buffer.from(word.slice(from), 'base64').toString('latin1').toLowerCase().includes(id))
        found.push('base64');
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex').toString('latin1');
  for (const word of all.match(/[\w+/=-]{20,}/g) ?? [])
    if (Buffer.from(word, 'base64').toString('latin1').includes(bytes)) found.push('bytes in base64');
  return [...new Set(found)];
}
