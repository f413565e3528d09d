/** Resolves escape sequences in text: HL7 v2 chapter 2, "Use of escape sequences in text fields". */
import { type Delimiters, noMessage } from './delimiters.ts';

/** Decodes the bytes from `\X…\` in the message's character set. */
export type Decode = (bytes: Uint8Array) => string;

/** The maximum number of escape characters in one text. */
const MOST_ESCAPES = 200_000;
/** Characters that text in a record may not contain. */
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/** Returns the text without control characters and unpaired surrogates. */
function cleaned(text: string): string {
  return text.replaceAll(CONTROL, '').toWellFormed();
}

/**
 * Resolves the escape sequences in a text. Formatting commands become line breaks and blanks; highlighting is dropped. Unknown
 * sequences and stray escape characters stay unchanged.
 */
export function unescapeText(text: string, delimiters: Delimiters, decode: Decode): string {
  const mark = delimiters.escape;
  if (mark === undefined || !text.includes(mark)) return cleaned(text);
  const parts = text.split(mark, MOST_ESCAPES + 1);
  if (parts.length > MOST_ESCAPES)
    throw noMessage(`a text has more than ${MOST_ESCAPES} escapes`, 'too-long');
  let plain = parts[0] ?? '';
  for (let at = 1; at < parts.length; at += 1) {
    const sequence = parts[at] ?? '';
    const meaning = at + 1 < parts.length ? decodeEscape(sequence, delimiters, decode) : undefined;
    if (meaning === undefined) plain += mark + sequence;
    else {
      plain += meaning + (parts[at + 1] ?? '');
      at += 1;
    }
  }
  return cleaned(plain);
}

/** Returns what a sequence stands for; undefined if the sequence is unknown. */
function decodeEscape(sequence: string, delimiters: Delimiters, decode: Decode): string | undefined {
  switch (sequence) {
    case 'F':
      return delimiters.field;
    case 'S':
      return delimiters.component;
    case 'T':
      return delimiters.subcomponent ?? '&';
    case 'R':
      return delimiters.repetition ?? '~';
    case 'E':
      return delimiters.escape ?? '\\';
    case 'P':
      return '#';
    case 'H':
    case 'N':
      return '';
  }
  const [, hex] = /^X([0-9A-Fa-f]+)$/.exec(sequence) ?? [];
  if (hex !== undefined && hex.length % 2 === 0) return decode(Buffer.from(hex, 'hex'));
  const [, command, count] = /^\.(br|ce|sp|sk|in|ti|fi|nf)([+-]?\d{0,3})$/.exec(sequence) ?? [];
  if (command === undefined) return undefined;
  if (command === 'br' || command === 'ce') return '\n';
  if (command !== 'sp' && command !== 'sk') return '';
  return (command === 'sp' ? '\n' : ' ').repeat(Math.max(1, Math.min(Number(count) || 1, 100)));
}
