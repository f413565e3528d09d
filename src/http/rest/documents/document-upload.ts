/**
 * Receives documents' bytes for the document store. They are sent through the service, or are stored there directly and then
 * finalized.
 */

import type { IncomingMessage } from 'node:http';
import type { StoredBytes } from '#commands/document/finalize.ts';
import { contradiction } from '#src/documents/content-type.ts';
import { Digest, type Digested, tooLarge } from '#src/documents/digest.ts';
import type { BlobKey, DocumentStore } from '#src/documents/store.ts';
import { cut } from '#src/shared/cut.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** The content types that clients send by default if the program doesn't set one. */
const UNSAID = ['application/octet-stream', 'application/x-www-form-urlencoded', 'text/plain'];

/** The expected properties of the bytes. */
export interface Expected {
  readonly contentType: string;
  /** Bytes at most. */
  readonly limit: number;
}

/**
 * Stores a request's bytes as they arrive.
 * @throws Refusal malformed (400) for a body that is missing or incomplete, too_large (413), unsupported_media_type (415) for
 *   an encoding, BlobExists
 */
export async function receive(
  store: DocumentStore,
  key: BlobKey,
  incoming: IncomingMessage,
  { contentType, limit }: Expected,
): Promise<Digested> {
  const { headers } = incoming;
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    const diagnostics = 'document content must be sent without a Content-Encoding';
    throw new Refusal('unsupported_media_type', { code: 'not-supported', diagnostics });
  }
  refuseOtherType(headers['content-type'], contentType);
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  const digest = new Digest(limit);
  try {
    await store.put(key, digest.pass(readBytes(incoming)));
  } catch (error) {
    // The rest of a refused upload is read and discarded.
    incoming.resume();
    throw error;
  }
  const digested = digest.end();
  if (digested.size > 0) return digested;
  await store.remove(key);
  throw new Refusal('malformed', { code: 'required', diagnostics: 'the request has no body' });
}

/**
 * Checks the content type in the header.
 * @throws Refusal invalid (422) if it differs from the document's type.
 */
function refuseOtherType(header: string | undefined, contentType: string): void {
  const mediaTypeName = (text: string): string => (text.split(';')[0] ?? '').trim().toLowerCase();
  if (
    header === undefined ||
    UNSAID.includes(mediaTypeName(header)) ||
    mediaTypeName(header) === mediaTypeName(contentType)
  )
    return;
  throw new Refusal('invalid', {
    code: 'value',
    diagnostics: `Content-Type is ${cut(mediaTypeName(header), 100)}, but must be ${contentType}, the document’s content_type`,
    expression: 'http.content-type',
  });
}

/** Yields a request's bytes. The request stays open for its response, even if reading stops early. */
async function* readBytes(incoming: IncomingMessage): AsyncGenerator<Buffer> {
  const chunks: AsyncIterable<Buffer> = incoming.iterator({ destroyOnReturn: false });
  try {
    yield* chunks;
  } catch {
    throw brokenOff();
  }
  if (!incoming.complete) throw brokenOff();
}

function brokenOff(): Refusal {
  return new Refusal('malformed', { code: 'structure', diagnostics: 'the body ended early' });
}

/**
 * Reads content that is already in the store.
 * @throws Refusal too_large (413); BlobMissing
 */
export async function reread(store: DocumentStore, key: BlobKey, limit: number): Promise<Digested> {
  const digest = new Digest(limit);
  const chunks: AsyncIterable<Buffer> = await store.get(key);
  for await (const chunk of chunks) digest.update(chunk);
  return digest.end();
}

/**
 * Checks stored bytes against their expected properties.
 * @throws Refusal invalid (422), which names both types
 */
export async function checkedBytes(
  blob: string,
  digested: Digested,
  contentType: string,
): Promise<StoredBytes> {
  const found = await contradiction(contentType, digested);
  if (found !== undefined) {
    throw new Refusal('invalid', {
      code: 'value',
      diagnostics: `the document’s content_type is ${contentType}, but its content is ${found}`,
      expression: 'content_type',
    });
  }
  const { size, sha256, sha1 } = digested;
  return { blob, size, sha256, sha1 };
}
