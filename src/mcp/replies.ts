/**
 * Replies to tools' requests, in the form in which receipts keep them. A resource is represented by its version, a context by
 * its own inputs, and a document's bytes by the document's id; the rest is text (docs/receipts.md).
 */
import type { NamedVersion, ReceiptDraft } from '#src/shared/access/receipt.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';

/** A piece of text, or a resource version that belongs at that place in the text. */
type Piece = string | readonly [id: string, version: number];

/** A reply in the form in which a receipt keeps it. */
export interface KeptReply {
  readonly status: number;
  readonly retry_after?: string;
  /** The reply's text, in pieces. */
  readonly text?: readonly Piece[];
  /** A context. */
  readonly context?: JsonObject;
  /** The document whose bytes are the reply. */
  readonly file?: string;
  /** The name of these bytes in the document store; absent in older receipts. */
  readonly blob?: string;
  /** The changes made where the reply passed through a grant; absent if the application received the reply unchanged. */
  readonly outward?: { readonly foreign: readonly string[] };
}

/** Matches the first members of a stored resource. */
const STORED =
  /\{"resourceType":"[A-Z]\w+","id":"([0-9a-f-]{36})","meta":\{(?:"[a-z]+":"[^"]*",)*?"versionId":"(\d+)"/gi;

/** Returns a text whose stored resources are replaced by their versions. */
export function cutVersions(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const found of text.matchAll(STORED)) {
    const [, id = '', version = ''] = found;
    if (found.index < from) continue;
    const end = endOfObject(text, found.index);
    // A part of a resource isn't the same as what the log stores.
    if (end === undefined || text.slice(found.index, end).includes('"SUBSETTED"')) continue;
    pieces.push(text.slice(from, found.index), [id, Number(version)]);
    from = end;
  }
  return [...pieces, text.slice(from)];
}

/** Characters that are significant in JSON: quotation marks, escapes and braces. */
const SIGNS = /["\\{}]/g;

/** Returns the index just after the object that begins at an index; undefined if the object has no end. */
function endOfObject(text: string, start: number): number | undefined {
  let [depth, isText] = [0, false];
  SIGNS.lastIndex = start;
  for (let found = SIGNS.exec(text); found !== null; found = SIGNS.exec(text)) {
    const [sign] = found;
    if (sign === '\\') SIGNS.lastIndex += 1;
    else if (sign === '"') isText = !isText;
    else if (!isText) depth += sign === '{' ? 1 : -1;
    if (depth === 0 && !isText) return SIGNS.lastIndex;
  }
  return undefined;
}

/**
 * Returns a text in which versions are replaced by their resources again.
 * @param find returns the text of a version
 */
export function joinVersions(
  pieces: Json | undefined,
  find: (id: string, version: number) => string,
): string {
  if (!Array.isArray(pieces)) return '';
  return pieces
    .map((piece) => (Array.isArray(piece) ? find(String(piece[0]), Number(piece[1])) : String(piece)))
    .join('');
}

/** Returns a context in the form in which a reply keeps it. */
export function keepContext({ form, position, parameters, inputs }: ReceiptDraft): JsonObject {
  return { form, position, parameters, inputs };
}

/** Matches references to versions in a result. */
const NAMED = /\b[A-Z]\w+\/([0-9a-f]{8}-[0-9a-f-]{27})\/_history\/(\d+)/g;

/** Returns the versions that a result names, each once. */
export function listVersions(text: string): NamedVersion[] {
  const found = new Map<string, NamedVersion>();
  for (const [, id = '', version = ''] of text.matchAll(NAMED))
    found.set(`${id} ${version}`, { id, version: Number(version) });
  return [...found.values()];
}

/** Returns a receipt's replies. */
export function readReplies({ replies }: JsonObject): readonly JsonObject[] {
  return Array.isArray(replies) ? replies.filter(isObject) : [];
}
