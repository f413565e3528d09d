/** Sends a document's content, whole or in part: the bytes as they were uploaded. */
import { type BlobKey, BlobMissing, type DocumentStore } from '#src/documents/store.ts';
import type { HeldContent } from '#src/fhir/document-content.ts';
import type { Header } from '../../answer/authorship.ts';
import { attachmentAs, fileName } from '../../answer/disposition.ts';
import { isKnown, rangeIn } from '../../answer/range.ts';
import type { RouteResult } from '../../api/route.ts';

/** Returns the `Content-Disposition` with the name under which to save the file. */
export function makeDisposition({ attachment, contentType }: HeldContent): string {
  const { title } = attachment;
  return attachmentAs(fileName(typeof title === 'string' ? title : null, contentType));
}

/** Returns a content type that is valid in a header. FHIR accepts parameters that headers don't, so these are left out. */
function safeContentType(contentType: string): string {
  return /^[\x20-\x7e]*$/.test(contentType) ? contentType : (contentType.split(';')[0] ?? '').trim();
}

/** A request for content. */
export interface ContentAsked {
  readonly header: Header;
  readonly method: string | undefined;
  /** Rejects if the document has since been deleted, or if its record is being purged. */
  readonly isThere: () => Promise<unknown>;
}

/** Responds with the content: 200, 206 for a range, 304 if the client already has it, 416 for a range outside the content. */
export function download(
  store: DocumentStore,
  key: BlobKey,
  content: HeldContent,
  { header, method, isThere }: ContentAsked,
): RouteResult {
  const { size, sha256, contentType } = content;
  const etag = `"${sha256}"`;
  const headers = { ETag: etag, 'Accept-Ranges': 'bytes' };
  if (isKnown(header, etag)) return { status: 304, headers };
  // A range is defined only for GET (RFC 9110, section 14.2).
  const range = method === 'HEAD' ? undefined : rangeIn(header, size, etag);
  if (range === 'none') return { status: 416, headers: { ...headers, 'Content-Range': `bytes */${size}` } };
  const part = range === undefined ? {} : { 'Content-Range': `bytes ${range.start}-${range.end}/${size}` };
  return {
    status: range === undefined ? 200 : 206,
    headers: {
      ...headers,
      ...part,
      'Content-Type': safeContentType(contentType),
      'Content-Disposition': makeDisposition(content),
    },
    content: {
      length: range === undefined ? size : range.end - range.start + 1,
      blob: key.blob,
      open: () => store.get(key, range).catch(nameMissing(isThere)),
    },
  };
}

/**
 * Returns the error to throw instead of an error. If an event names content that is missing, the installation is at fault, and
 * `annal verify` reports this, unless the document has disappeared as well.
 */
function nameMissing(isThere: ContentAsked['isThere']): (error: unknown) => Promise<never> {
  return async (error) => {
    if (!(error instanceof BlobMissing)) throw error;
    await isThere();
    throw new Error('the content of a document is missing in the document store', { cause: error });
  };
}
