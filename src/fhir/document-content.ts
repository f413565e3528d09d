/**
 * Reads and writes attachments in a DocumentReference whose bytes are in the document store (docs/spec/decisions.md, section
 * 4). The attachments' `url` points to the document's own content; they contain `id` (the blob), `size`, `hash` and the
 * SHA-256. Pure.
 */
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';

/** The extension with the SHA-256 in hex, because R4's own `hash` is SHA-1. */
const SHA256 = 'https://annal.dev/fhir/sha256';
/** The extension with the URL of an attachment that also had data. */
const ORIGINAL_URL = 'https://annal.dev/fhir/original-url';

/** Bytes in the document store. */
export interface Content {
  readonly blob: string;
  readonly contentType: string;
  /** In bytes. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
}

/** One of a document's attachments, and its bytes. */
export interface HeldContent extends Content {
  /** Index in `content`. */
  readonly index: number;
  readonly attachment: JsonObject;
}

/**
 * Returns a DocumentReference's attachments in order. For a content entry without an attachment, the list has an empty object.
 */
export function listAttachments({ content }: JsonObject): JsonObject[] {
  if (!Array.isArray(content)) return [];
  return content.map((each) => (isObject(each) && isObject(each.attachment) ? each.attachment : {}));
}

/**
 * Returns whether a URL points to this document's content. The URL may begin with any base URL that the service has ever had.
 */
export function isOwnUrl(url: Json | undefined, document: string): url is string {
  if (typeof url !== 'string') return false;
  const [, id] =
    /^https?:\/\/\S+\/v1\/documents\/([^/?#]+)\/content(?:\?attachment=[\w.-]+)?$/.exec(url) ?? [];
  return id === document;
}

/** Returns a stored DocumentReference's attachments whose bytes are in the document store. */
export function heldContents(resource: JsonObject, document: string): HeldContent[] {
  return listAttachments(resource).flatMap((attachment, index): HeldContent[] => {
    const { id, url, contentType, size } = attachment;
    const sha256 = sha256In(attachment);
    if (!isOwnUrl(url, document) || typeof id !== 'string' || sha256 === undefined) return [];
    const type = typeof contentType === 'string' ? contentType : 'application/octet-stream';
    return [{ index, attachment, blob: id, contentType: type, size: Number(size), sha256 }];
  });
}

/** Returns the SHA-256 in an attachment's extension; undefined if there is none. */
export function sha256In({ extension }: JsonObject): string | undefined {
  if (!Array.isArray(extension)) return undefined;
  const [found] = extension.filter(isObject).filter(({ url }) => url === SHA256);
  return typeof found?.valueString === 'string' ? found.valueString : undefined;
}

/** Stored bytes, with a second checksum. */
export interface Stored extends Content {
  /** Base64. */
  readonly sha1: string;
  readonly url: string;
}

/** Returns an attachment for stored bytes, with the store's `url`, size and checksums, and without `data`. */
export function withStored(attachment: JsonObject, stored: Stored): JsonObject {
  const { data: _data, id: _id, size: _size, hash: _hash, url, extension, ...kept } = attachment;
  const others = (Array.isArray(extension) ? extension : []).filter(
    (each) => !isObject(each) || each.url !== SHA256,
  );
  const original: Json[] = typeof url === 'string' ? [{ url: ORIGINAL_URL, valueUrl: url }] : [];
  return {
    id: stored.blob,
    extension: [...others, ...original, { url: SHA256, valueString: stored.sha256 }],
    ...kept,
    url: stored.url,
    size: stored.size,
    hash: stored.sha1,
  };
}

/** Returns an attachment that a client sent for stored bytes, with the service's own data about these bytes. */
export function restoredAttachment(sent: JsonObject, { attachment, ...content }: HeldContent): JsonObject {
  const { url: _url, ...rest } = sent;
  const { url, hash, contentType } = attachment;
  const type = contentType === undefined ? {} : { contentType };
  return withStored({ ...rest, ...type }, { ...content, url: String(url), sha1: String(hash) });
}

/**
 * Returns a new version of a DocumentReference, in which the attachments that name stored bytes by their URL have the
 * service's own data about these bytes.
 * @param stored the version before
 */
export function withHeldContents(resource: JsonObject, stored: JsonObject, document: string): JsonObject {
  const held = heldContents(stored, document);
  return listAttachments(resource).reduce((changed, attachment, index) => {
    const same = held.find((each) => each.attachment.url === attachment.url);
    return same === undefined
      ? changed
      : withAttachment(changed, index, restoredAttachment(attachment, same));
  }, resource);
}

/** Returns a copy of a DocumentReference in which the attachment at an index is replaced. */
export function withAttachment(resource: JsonObject, index: number, attachment: JsonObject): JsonObject {
  const { content } = resource;
  if (!Array.isArray(content)) return resource;
  const changed = content.map((each, at) =>
    at === index && isObject(each) ? { ...each, attachment } : each,
  );
  return { ...resource, content: changed };
}

/**
 * Returns the index at which uploaded content is placed: the first attachment with neither data nor url; undefined if there is
 * none.
 */
export function openSlot(resource: JsonObject): number | undefined {
  const index = listAttachments(resource).findIndex(
    ({ url, data }) => url === undefined && data === undefined,
  );
  return index < 0 ? undefined : index;
}
