/** Decodes messages in their character sets: MSH-18, HL7 table 0211. */

import { isUtf8 } from 'node:buffer';
import { cut } from '#src/shared/cut.ts';
import { noMessage } from './delimiters.ts';

/** Names in table 0211, and other common names, in upper case → labels in the Encoding Standard. */
const LABELS: Readonly<Record<string, string>> = {
  '8859/2': 'iso-8859-2',
  '8859/3': 'iso-8859-3',
  '8859/4': 'iso-8859-4',
  '8859/5': 'iso-8859-5',
  '8859/6': 'iso-8859-6',
  '8859/7': 'iso-8859-7',
  '8859/8': 'iso-8859-8',
  '8859/9': 'windows-1254',
  '8859/15': 'iso-8859-15',
  'GB 18030-2000': 'gb18030',
  'BIG-5': 'big5',
  'KS X 1001': 'euc-kr',
  'ISO IR87': 'iso-2022-jp',
  'UNICODE UTF-8': 'utf-8',
  'UNICODE UTF-16': 'utf-16le',
  UNICODE: 'utf-8',
  ASCII: 'utf-8',
  'ISO IR6': 'utf-8',
};

/** Matches names of character sets with one byte per character. */
const ONE_BYTE = /^(?:ASCII|ISO IR6|(?:ISO[ -]?)?8859[-/ ]\d+)$/i;

/** Returns a character set's label; undefined if it is unknown. Latin-1 is read as Windows-1252. */
export function findCharset(name: string): string | undefined {
  const upper = name.trim().toUpperCase();
  const usual = upper.replace(/^(?:ISO[ -]?)?8859[-/ ]/, '8859/');
  const known = LABELS[usual];
  if (known !== undefined) return known;
  try {
    return new TextDecoder(usual === '8859/1' ? 'iso-8859-1' : upper).encoding;
  } catch {
    return undefined;
  }
}

/**
 * Returns a decoder that replaces unreadable bytes with U+FFFD.
 * @param label as returned by `findCharset`; default: UTF-8
 */
export function makeDecoder(label = 'utf-8'): (bytes: Uint8Array) => string {
  const decoder = new TextDecoder(label);
  return (bytes) => decoder.decode(bytes);
}

/** A message's text, and notes about how it was read. */
export interface DecodedText {
  readonly text: string;
  readonly warnings: readonly string[];
}

/**
 * Decodes bytes by their byte order mark; without one, by the request's charset; without that, by MSH-18; and otherwise as
 * UTF-8. Bytes that aren't valid UTF-8 and have no other known charset are read as Windows-1252.
 * @param declared `charset` in the request's Content-Type
 * @throws Refusal invalid (422) for an unknown character set, unless the bytes are UTF-8
 */
export function decodeBytes(bytes: Uint8Array, declared?: string): DecodedText {
  const mark = readByteOrderMark(bytes);
  if (mark !== undefined) return { text: makeDecoder(mark)(bytes), warnings: [] };
  const names = [declared, nameIn(bytes)].filter((name) => name !== undefined);
  const labels = names.map(findCharset);
  const utf8 = isUtf8(bytes);
  // Text in a single-byte character set is hardly ever valid UTF-8 by chance, and senders often name the wrong character set.
  const [name] = names;
  const mayBeWrong = declared === undefined && (name === undefined || ONE_BYTE.test(name));
  if (utf8 && mayBeWrong && bytes.some((byte) => byte >= 0x80)) {
    const said = name === undefined ? 'MSH-18 is empty' : `MSH-18 is ${cut(name, 20)}`;
    return { text: makeDecoder()(bytes), warnings: [`${said}; the message is UTF-8 and was read as such`] };
  }
  const other = labels[0] === 'utf-8' && utf8 ? undefined : labels.find((one) => one !== 'utf-8');
  if (other !== undefined) return { text: makeDecoder(other)(bytes), warnings: [] };
  if (utf8) return { text: makeDecoder()(bytes), warnings: [] };
  const unknown = names.find((_, at) => labels[at] === undefined);
  if (unknown !== undefined) throw noMessage(`unknown character set ${cut(unknown, 40)}`, 'not-supported');
  const warnings = ['the message is not UTF-8; it was read as Windows-1252'];
  return { text: makeDecoder('windows-1252')(bytes), warnings };
}

function readByteOrderMark(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

/** Returns the first repetition in MSH-18. It is read as bytes, because all names are ASCII. */
function nameIn(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 4_000)).toString('latin1');
  const [, , field, header = ''] = /(^|[\r\n\x0b])\s*MSH([^\w\s])([^\r\n]*)/.exec(head) ?? [];
  if (field === undefined) return undefined;
  const repetition = header.charAt(1);
  const [name = ''] = (header.split(field)[16] ?? '').split(repetition);
  return name.trim() === '' ? undefined : name.trim();
}
