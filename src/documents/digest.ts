/** What is learned of a document's bytes while they pass: size, checksums, and what tells their type. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { Refusal } from '#src/shared/refusal.ts';

/** How many bytes of the beginning are kept: what recognizing a type takes. */
const HEAD = 8_192;

/** What was learned. */
export interface Digested {
  /** In bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** Base64, as R4 has it in `Attachment.hash`. */
  readonly sha1: string;
  /** The first bytes. */
  readonly head: Buffer;
  /** Whether all of it is UTF-8 without a NUL. */
  readonly text: boolean;
}

/** Learns of bytes as they pass. */
export class Digest {
  readonly #sha256 = createHash('sha256');
  readonly #sha1 = createHash('sha1');
  readonly #head: Buffer[] = [];
  #kept = 0;
  #size = 0;
  #text = true;
  /** The bytes of a character whose end has not come yet. */
  #begun: Buffer = Buffer.alloc(0);

  /** @param limit bytes at most */
  constructor(readonly limit: number) {}

  /** Passes a source on. @throws Refusal too_large (413) beyond the limit; what the source throws */
  async *pass(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      this.update(chunk);
      yield chunk;
    }
  }

  /** Takes the next bytes. @throws Refusal too_large (413) beyond the limit */
  update(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > this.limit) throw tooLarge(this.limit);
    this.#sha256.update(chunk);
    this.#sha1.update(chunk);
    if (this.#kept < HEAD) {
      const part = Buffer.from(chunk.subarray(0, HEAD - this.#kept));
      this.#head.push(part);
      this.#kept += part.length;
    }
    if (this.#text) this.#readText(chunk);
  }

  /** What all of it comes to; once. */
  end(): Digested {
    return {
      size: this.#size,
      sha256: this.#sha256.digest('hex'),
      sha1: this.#sha1.digest('base64'),
      head: Buffer.concat(this.#head),
      text: this.#text && this.#begun.length === 0,
    };
  }

  #readText(chunk: Buffer): void {
    const bytes = this.#begun.length === 0 ? chunk : Buffer.concat([this.#begun, chunk]);
    const whole = bytes.subarray(0, bytes.length - unfinished(bytes));
    this.#begun = Buffer.from(bytes.subarray(whole.length));
    this.#text = isUtf8(whole) && !whole.includes(0);
  }
}

/** How many bytes at the end belong to a character that is not complete (RFC 3629). */
function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? back : 0;
  }
  return 0;
}

/** The bytes of a document are more than may be stored: 413. */
export function tooLarge(limit: number): Refusal {
  const diagnostics = `a document may have ${limit} bytes at most`;
  return new Refusal('too_large', { code: 'too-long', diagnostics });
}
