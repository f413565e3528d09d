/** Collects a document's size, checksums and type while its bytes pass through. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { Refusal } from '#src/shared/refusal.ts';

/** How many bytes at the beginning are kept in order to recognise the type. */
const HEAD = 8_192;

/** The collected properties. */
export interface Digested {
  /** In bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** Base64, as in R4's `Attachment.hash`. */
  readonly sha1: string;
  /** The first bytes. */
  readonly head: Buffer;
  /** True if the bytes are valid UTF-8 without a NUL. */
  readonly text: boolean;
}

/** Collects properties of bytes as they pass through. */
export class Digest {
  readonly #sha256 = createHash('sha256');
  readonly #sha1 = createHash('sha1');
  readonly #head: Buffer[] = [];
  #kept = 0;
  #size = 0;
  #text = true;
  /** The bytes of an incomplete character. */
  #begun: Buffer = Buffer.alloc(0);

  /** @param limit the maximum number of bytes */
  constructor(readonly limit: number) {}

  /**
   * Passes the bytes of a source through.
   * @throws Refusal too_large (413) if the limit is exceeded; the source's errors
   */
  async *pass(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      this.update(chunk);
      yield chunk;
    }
  }

  /**
   * Processes the next bytes.
   * @throws Refusal too_large (413) if the limit is exceeded
   */
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

  /** Returns the properties of all bytes. Call this only once. */
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

/** Returns how many bytes at the end belong to an incomplete character (RFC 3629). */
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

/** Returns the refusal (413) for a document that is too large. */
export function tooLarge(limit: number): Refusal {
  const diagnostics = `the document is larger than ${limit} bytes, the limit (DOCUMENT_MAX_BYTES)`;
  return new Refusal('too_large', { code: 'too-long', diagnostics });
}
