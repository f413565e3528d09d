/** Reads the text of PDFs printed by Chromium, from the pages' streams and the characters of their fonts. */
import { inflateSync } from 'node:zlib';

/** Returns the text of each sheet, in the order in which it was drawn. */
export function sheetsOf(pdf: Buffer): string[] {
  const objects = new Map<string, string>();
  const file = pdf.toString('latin1');
  for (const [, id = '', body = ''] of file.matchAll(/(?:^|\n)(\d+) 0 obj\s([\s\S]*?)\nendobj/g))
    objects.set(id, body);
  const pages = [...objects.values()].filter((body) => /\/Type \/Page\b/.test(body));
  return pages.map((page) => {
    const fonts = new Map(
      [...dictionary(objects, page, 'Font').matchAll(/\/(\S+) (\d+) 0 R/g)].map(([, name = '', id = '']) => [
        name,
        charactersOf(objects, objects.get(id) ?? ''),
      ]),
    );
    const [, content = ''] = /\/Contents (\d+) 0 R/.exec(page) ?? [];
    return drawnBy(streamOf(objects.get(content) ?? ''), fonts);
  });
}

/** Returns a dictionary from a page's resources; the dictionary may be a separate object. */
function dictionary(objects: ReadonlyMap<string, string>, page: string, name: string): string {
  const [, of] = /\/Resources (\d+) 0 R/.exec(page) ?? [];
  const resources = of === undefined ? page : (objects.get(of) ?? '');
  const [, id, own] = new RegExp(`/${name} (?:(\\d+) 0 R|<<([\\s\\S]*?)>>)`).exec(resources) ?? [];
  return own ?? objects.get(id ?? '') ?? '';
}

/**
 * Returns an object's stream. The length is taken from /Length, because the last byte may itself be a carriage return (ISO
 * 32000-1 §7.3.8.1).
 */
function streamOf(body: string): string {
  const start = /stream\r?\n/.exec(body);
  const [, length] = /\/Length (\d+)/.exec(body) ?? [];
  if (start === null || length === undefined) return '';
  const from = start.index + start[0].length;
  const bytes = body.slice(from, from + Number(length));
  return body.includes('/FlateDecode') ? inflateSync(Buffer.from(bytes, 'latin1')).toString('latin1') : bytes;
}

/** Returns the character for each glyph in a font. */
function charactersOf(objects: ReadonlyMap<string, string>, font: string): ReadonlyMap<number, string> {
  const [, id = ''] = /\/ToUnicode (\d+) 0 R/.exec(font) ?? [];
  const map = streamOf(objects.get(id) ?? '');
  const characters = new Map<number, string>();
  const said = (hex: string): string => Buffer.from(hex, 'hex').swap16().toString('utf16le');
  for (const [, part = ''] of map.matchAll(/beginbfchar([\s\S]*?)endbfchar/g))
    for (const [, glyph = '', to = ''] of part.matchAll(/<(\w+)> <(\w+)>/g))
      characters.set(Number.parseInt(glyph, 16), said(to));
  for (const [, part = ''] of map.matchAll(/beginbfrange([\s\S]*?)endbfrange/g))
    for (const [, from = '', to = '', first = ''] of part.matchAll(/<(\w+)> <(\w+)> <(\w+)>/g))
      for (let n = 0; n <= Number.parseInt(to, 16) - Number.parseInt(from, 16); n += 1)
        characters.set(Number.parseInt(from, 16) + n, String.fromCodePoint(Number.parseInt(first, 16) + n));
  return characters;
}

function drawnBy(stream: string, fonts: ReadonlyMap<string, ReadonlyMap<number, string>>): string {
  let font: ReadonlyMap<number, string> = new Map();
  let text = '';
  for (const [, name, hex, end] of stream.matchAll(/\/(\S+) [\d.]+ Tf|<([0-9A-Fa-f]+)>|\b(ET)\b/g)) {
    if (name !== undefined) font = fonts.get(name) ?? new Map();
    else if (hex !== undefined)
      text += (hex.match(/.{4}/g) ?? []).map((glyph) => font.get(Number.parseInt(glyph, 16)) ?? '').join('');
    else if (end !== undefined) text += ' ';
  }
  return text.replace(/\s+/g, ' ');
}
