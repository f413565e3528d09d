/** Finalizes a document: a new version of its DocumentReference makes stored bytes its content. */
import {
  heldContents,
  listAttachments,
  openSlot,
  type Stored,
  withAttachment,
  withStored,
} from '#src/fhir/document-content.ts';
import { isObject, type JsonObject, parseJson } from '#src/shared/json/json.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import type { CommandContext, WriteResult, Written } from '../command.ts';
import { currentVersion } from '../resource/current.ts';
import type { WriteDeps } from '../resource/deps.ts';
import { writeOnce } from '../resource/once.ts';
import type { WriteRequest } from '../resource/request.ts';
import { immutable } from './settle.ts';

/** Bytes that are already stored. */
export type StoredBytes = Pick<Stored, 'blob' | 'size' | 'sha256' | 'sha1'>;

/**
 * Makes stored bytes the content of a document.
 * @throws Refusal not_found (404); forbidden (403) under a grant for documents that others created; conflict (409) if the
 * document already has content, or its content is stored elsewhere; unavailable (503)
 */
export async function finalizeDocument(
  deps: WriteDeps,
  ctx: CommandContext,
  id: string,
  bytes: StoredBytes,
): Promise<Written<WriteResult>> {
  const type = 'DocumentReference';
  const { lookup } = deps;
  const created = ctx.caller.sees.within === undefined ? undefined : await lookup.ownDocument(ctx.caller, id);
  const located = created ?? (await lookup.locate(ctx.caller, [id])).get(id);
  if (located?.type !== type) throw notFound(type, id);
  if (ctx.caller.sees.within !== undefined && created === undefined) throw othersDocument(id);
  const grant = created === undefined ? {} : { letter: 'c' as const, place: created };
  const own = { index: 0, method: 'PUT', type, id, ...grant } as const;
  const prepare = async (): Promise<readonly WriteRequest[]> => {
    const { version, body } = await currentVersion(deps.resources, located.stream, type, id);
    if (body === undefined) throw notFound(type, id);
    const before = parseBody(body);
    const { value, stored } = withContent(before, id, { ...bytes, url: deps.contents.url(id) });
    const finalized = [{ ...stored, eventId: ctx.ids.at(1, 'finalized') }];
    const resource = { value, exact: true, madeOf: before };
    return [{ ...own, basedOn: version, stored: finalized, resource }];
  };
  const { result, position } = await writeOnce(deps, ctx, [own], false, prepare);
  const written = result.get(0);
  if (written === undefined) throw notFound(type, id);
  return { result: written, position };
}

/** Returns the refusal (403) for an upload to a document that another application or the project created. */
export function othersDocument(id: string): Refusal {
  const diagnostics = `under a grant an application can send the content of documents that it created itself, and DocumentReference/${id} was created by others`;
  return new Refusal('forbidden', { code: 'forbidden', diagnostics });
}

/**
 * Returns the document with the given bytes as its content.
 * @throws Refusal conflict
 */
function withContent(
  document: JsonObject,
  id: string,
  bytes: Omit<Stored, 'contentType'>,
): { readonly value: JsonObject; readonly stored: Stored } {
  if (heldContents(document, id).length > 0) throw immutable(id);
  const slot = openSlot(document);
  if (slot === undefined) throw elsewhere(id);
  const attachment = listAttachments(document)[slot] ?? {};
  const { contentType } = attachment;
  const type = typeof contentType === 'string' ? contentType : 'application/octet-stream';
  const stored = { ...bytes, contentType: type };
  const held = withStored({ ...attachment, contentType: type }, stored);
  return { value: { ...withAttachment(document, slot, held), docStatus: 'final' }, stored };
}

/** Returns the refusal (409) for an upload to a document whose attachments are all stored outside of Annal. */
export function elsewhere(id: string): Refusal {
  const diagnostics = `the content of DocumentReference/${id} is stored elsewhere: its attachments are URLs`;
  return new Refusal('conflict', { code: 'conflict', diagnostics });
}

function parseBody(text: string): JsonObject {
  const { value } = parseJson(text);
  if (!isObject(value)) throw new TypeError('a stored body is not an object');
  return value;
}
