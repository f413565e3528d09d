/**
 * Encrypts a SMART Health Link file while it is being read: JWE in compact form, `dir` with A256GCM, compressed (RFC 7516;
 * https://docs.smarthealthit.org/smart-health-links/spec/#encrypting-and-decrypting-files). Memory use doesn't grow with the
 * file, because the tag comes last.
 */
import { createCipheriv, randomBytes } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { createDeflateRaw } from 'node:zlib';

/** Length of a nonce in bytes (RFC 7518, section 5.3). */
const NONCE = 12;

/** Number of bytes that base64 encodes together, as four characters. */
const GROUP = 3;

/**
 * Yields the JWE's text in ASCII.
 * @param key 32 bytes
 * @param contentType of the plaintext; becomes `cty`
 * @param source read only as fast as the result is read
 */
export async function* encrypted(
  key: Buffer,
  contentType: string,
  source: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, undefined> {
  const header = base64url(
    Buffer.from(JSON.stringify({ alg: 'dir', enc: 'A256GCM', cty: contentType, zip: 'DEF' })),
  );
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(header));
  yield Buffer.from(`${header}..${base64url(nonce)}.`);
  const deflate = createDeflateRaw();
  // An error in the source ends the loop below; if the loop ends early, the source is closed.
  pipeline(Readable.from(source, { objectMode: true }), deflate, () => undefined);
  let rest: Buffer = Buffer.alloc(0);
  for await (const part of deflate as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([rest, cipher.update(part)]);
    const whole = bytes.length - (bytes.length % GROUP);
    rest = bytes.subarray(whole);
    if (whole > 0) yield Buffer.from(base64url(bytes.subarray(0, whole)));
  }
  const last = Buffer.concat([rest, cipher.final()]);
  yield Buffer.from(`${base64url(last)}.${base64url(cipher.getAuthTag())}`);
}

const base64url = (bytes: Buffer): string => bytes.toString('base64url');
