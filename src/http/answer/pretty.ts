/**
 * Formats JSON for `_pretty=true`, with line breaks and indents (https://hl7.org/fhir/R4/http.html#pretty). Numbers keep their
 * digits.
 */
import { setImmediate } from 'node:timers/promises';
import type { Answer } from './answer.ts';

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [BRACE, BRACKET, END_BRACE, END_BRACKET] = [0x7b, 0x5b, 0x7d, 0x5d];
const SPACE = 0x20;

/** Greater than the maximum nesting of JSON that is accepted. */
const DEEPEST = 128;
const INDENTS = Array.from({ length: DEEPEST + 1 }, (_, depth) => Buffer.from(`\n${'  '.repeat(depth)}`));

/** Indents JSON that arrives in pieces, which may be split at any byte. */
export class Indenter {
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** True between the start of an object or array and its first content; used to keep an empty object or array on one line. */
  #opened = false;

  /**
   * Indents the next piece of JSON text.
   * @param piece UTF-8 bytes of the text.
   * @returns the indented piece
   */
  indent(piece: Buffer): Buffer {
    const parts: Buffer[] = [];
    let from = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at] ?? 0;
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
        continue;
      }
      const isEnd = byte === END_BRACE || byte === END_BRACKET;
      if (byte > SPACE && this.#opened) {
        this.#opened = false;
        if (!isEnd) {
          parts.push(piece.subarray(from, at), this.#line);
          from = at;
        }
      } else if (isEnd) {
        this.#depth -= 1;
        parts.push(piece.subarray(from, at), this.#line);
        this.#depth += 1;
        from = at;
      }
      if (isEnd) this.#depth -= 1;
      else if (byte === QUOTE) this.#inString = true;
      else if (byte === BRACE || byte === BRACKET) {
        this.#depth += 1;
        this.#opened = true;
      } else if (byte === COMMA) {
        parts.push(piece.subarray(from, at + 1), this.#line);
        from = at + 1;
      } else if (byte === COLON) {
        parts.push(piece.subarray(from, at + 1), BLANK);
        from = at + 1;
      }
    }
    parts.push(piece.subarray(from));
    return Buffer.concat(parts);
  }

  get #line(): Buffer {
    return INDENTS[Math.min(Math.max(this.#depth, 0), DEEPEST)] ?? BLANK;
  }
}

const BLANK = Buffer.from(' ');

/** Number of bytes indented at a time. Other requests are processed in between. */
const SLICE = 256 * 1024;

/** Returns the response with indented JSON; a response longer than a slice is indented while it is being sent. */
export function pretty(answer: Answer): Answer {
  const { body, stream, ...others } = answer;
  if (!/^application\/(?:fhir\+)?json/.test(answer.headers['Content-Type'] ?? '')) return answer;
  if (stream !== undefined) return { ...others, stream: indented(stream) };
  if (body === undefined) return answer;
  const bytes = Buffer.from(body);
  return bytes.length <= SLICE
    ? { ...others, body: new Indenter().indent(bytes) }
    : { ...others, stream: indented([bytes]) };
}

async function* indented(
  pieces: AsyncIterable<string | Buffer> | Iterable<string | Buffer>,
): AsyncGenerator<Buffer, undefined> {
  const indenter = new Indenter();
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece);
    for (let at = 0; at < bytes.length; at += SLICE) {
      yield indenter.indent(bytes.subarray(at, at + SLICE));
      await setImmediate();
    }
  }
}
