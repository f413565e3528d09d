/** Connects a document's DocumentReference with the document's bytes in the store and its representation in REST v1. */
import type { CommandContext, WriteResult } from '#commands/command.ts';
import { elsewhere, othersDocument } from '#commands/document/finalize.ts';
import { immutable } from '#commands/document/settle.ts';
import type { MarkedResource } from '#queries/rest/marks.ts';
import { signUpload } from '#src/documents/signature.ts';
import { type BlobKey, DIRECT } from '#src/documents/store.ts';
import { type HeldContent, heldContents, listAttachments, openSlot } from '#src/fhir/document-content.ts';
import { withLetter } from '#src/shared/access/access.ts';
import { mayRead } from '#src/shared/access/caller.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { shownDocument } from '#src/v1/document.ts';
import type { RouteResult } from '../../api/route.ts';
import type { Services } from '../../ports/services.ts';
import { warningsIn } from '../inputs.ts';
import {
  findPatient,
  type RestRequest,
  readCreation,
  renderRecord,
  resourceIn,
  shownResource,
  writtenBody,
} from '../record.ts';
import { makeDisposition } from './document-download.ts';
import type { Expected } from './document-upload.ts';

/** Lifetime of a URL to or from the store, in seconds. */
const LINK_SECONDS = 900;

/** A document and its content in the store. */
export interface Document {
  readonly document: string;
  readonly patient: string;
  readonly resource: JsonObject;
  readonly contents: readonly HeldContent[];
}

/** Reads a stored DocumentReference. */
export function documentIn({ id, body }: { readonly id: string; readonly body: string }): Document {
  const resource = resourceIn(body);
  const patient = findPatient('DocumentReference', id, resource);
  return { document: id, patient, resource, contents: heldContents(resource, id) };
}

/**
 * Returns a document that is waiting for its content.
 * @throws Refusal conflict (409) if it already has content, here or elsewhere
 */
export function openDocument(found: { readonly id: string; readonly body: string }): Document {
  const document = documentIn(found);
  if (document.contents.length > 0) throw immutable(document.document);
  if (openSlot(document.resource) === undefined) throw elsewhere(document.document);
  return document;
}

/**
 * Reads a document to which a request will add content. Under a grant, the application must have created the document, whether
 * or not the grant allows reading it (docs/spec/decisions.md, section 9, "Letters").
 * @throws Refusal not_found (404); forbidden (403) for a document that the application can see but didn't create
 */
export async function documentToFill(
  request: RestRequest,
  id: string,
): Promise<MarkedResource & { readonly body: string }> {
  const type = 'DocumentReference';
  const { calls, sees } = request.caller;
  const { credential } = calls;
  if (sees.within === undefined || credential.kind !== 'grant') return shownResource(request, type, id);
  const within = { ...sees.within, access: withLetter(sees.within.access, type, 'r') };
  const found = await shownResource({ ...request, caller: { calls, sees: { ...sees, within } } }, type, id);
  const { kind, application } = (await readCreation(request, found)).metadata.credential;
  if (kind === 'grant' && application === credential.applicationId) return found;
  await shownResource(request, type, id);
  throw othersDocument(id);
}

/** Returns the expected properties of the document's content. */
export function readExpected({ config }: Pick<Services, 'config'>, resource: JsonObject): Expected {
  const { contentType } = listAttachments(resource)[openSlot(resource) ?? 0] ?? {};
  return {
    contentType: typeof contentType === 'string' ? contentType : 'application/octet-stream',
    limit: config.limits.documentBytes,
  };
}

/**
 * Returns the URL to which a new document's content is uploaded without a credential for the service: the store's own URL, or
 * a signed URL on this service. Under a grant, it is the service's normal URL, which requires the access token.
 */
export async function uploadTarget(
  { services: { documents, config }, pass }: RestRequest,
  of: Pick<BlobKey, 'patient' | 'document'>,
  contentType: string,
): Promise<object> {
  const expires_in_seconds = LINK_SECONDS;
  if (pass !== undefined) {
    const url = `${config.baseUrl}/v1/documents/${of.document}/content`;
    return { url, method: 'PUT', headers: { 'Content-Type': contentType }, expires_in_seconds };
  }
  const direct = await documents.store.upload({ ...of, blob: DIRECT }, contentType, LINK_SECONDS);
  const { url, headers } = direct ?? {
    url: ownTarget(documents.key, config.baseUrl, of.document),
    headers: { 'Content-Type': contentType },
  };
  return { url, method: 'PUT', headers, expires_in_seconds };
}

function ownTarget(key: Buffer, baseUrl: string, document: string): string {
  const expires = Math.floor(Date.now() / 1_000) + LINK_SECONDS;
  const signature = signUpload(key, { document, expires });
  return `${baseUrl}/v1/documents/${document}/upload?expires=${expires}&signature=${signature}`;
}

/**
 * Returns the URL of the content in the store itself; null if the store provides none. It is also null under a grant, because
 * the URL would contain the record's real id, outlive the grant and bypass the access log.
 */
export async function withDownload(
  { services: { documents }, pass }: RestRequest,
  { document, patient, contents }: Document,
): Promise<string | null> {
  const [content] = contents;
  if (content === undefined || pass !== undefined) return null;
  const { blob, contentType } = content;
  const told = { contentType, disposition: makeDisposition(content), expiresInSeconds: LINK_SECONDS };
  return (await documents.store.download({ patient, document, blob }, told)) ?? null;
}

/**
 * Returns the response for a document that has just been finalized.
 * @param known read before the write, so that the response isn't 503 after the write has completed
 */
export async function shownFinal(
  request: RestRequest,
  { authorship }: CommandContext,
  result: WriteResult,
  known: { readonly patient: string; readonly created: string },
): Promise<RouteResult> {
  const { id, version, lastUpdated = '' } = result;
  const { patient, created } = known;
  const type = 'DocumentReference';
  const resource = writtenBody(result);
  const document = { document: id, patient, resource, contents: heldContents(resource, id) };
  const fields = {
    ...shownDocument(resource),
    download_url: await withDownload(request, document),
  };
  const shown = { type, id, patient, version, created, updated: lastUpdated, author: authorship } as const;
  if (mayRead(request.caller, type)) request.pass?.shows('update', type, id);
  return { status: 200, body: { ...renderRecord(shown, fields), ...warningsIn(request, resource, result) } };
}
