/** REST v1 routes for documents. */
import { z } from 'zod';
import { isSigned } from '#src/documents/signature.ts';
import { BlobExists, BlobMissing, DIRECT } from '#src/documents/store.ts';
import { heldContents } from '#src/fhir/document-content.ts';
import { mayRead } from '#src/shared/access/caller.ts';
import { newUuid } from '#src/shared/ids.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { codesOfKind, DOCUMENT_KINDS, KNOWN_CODES, shownDocument, toDocument } from '#src/v1/document.ts';
import { LOINC } from '#src/v1/elements.ts';
import { route } from '../../api/route.ts';
import { errorBody, LIST_QUERY, listSchema, PAGED } from '../../api/schemas.ts';
import { atMoment, PAST_QUERY } from '../as-of.ts';
import { namingInputs, warningsIn } from '../inputs.ts';
import { creates } from '../items.ts';
import { LIST_MODELS, listRecords, makeToken } from '../list.ts';
import {
  liveResource,
  makeCommandContext,
  readCreation,
  renderRecord,
  resourceIn,
  shownRecords,
  shownResource,
  writtenBody,
} from '../record.ts';
import { AUTHOR } from '../schemas.ts';
import { finalizingCommand } from './document-author.ts';
import { download } from './document-download.ts';
import {
  documentIn,
  documentToFill,
  openDocument,
  readExpected,
  shownFinal,
  uploadTarget,
  withDownload,
} from './document-record.ts';
import {
  createdSchema,
  documentInput,
  documentSchema,
  finalizedSchema,
  finalizeInput,
} from './document-schemas.ts';
import { checkedBytes, receive, reread } from './document-upload.ts';

const TAG = 'Documents';

/** The requirements that a grant must meet for reading a document by its id, and for reading its bytes. */
const READS_DOCUMENT = {
  action: 'read',
  needs: [{ type: 'DocumentReference', letters: 'r' }],
  type: 'DocumentReference',
  id: 'doc_id',
} as const;

/** The requirements for sending the content of a document under a grant whose application created the document. */
const SENDS_CONTENT = {
  action: 'update',
  needs: [{ type: 'DocumentReference', letters: 'c' }],
  type: 'DocumentReference',
  id: 'doc_id',
  writes: true,
} as const;

export const DOCUMENT_ROUTES = [
  route({
    method: 'POST',
    path: '/v1/patients/{patient_id}/documents',
    operationId: 'createDocument',
    summary: 'Create a document; upload its content next',
    description:
      'Send the content to `upload` and then finalize the document, or use `PUT /v1/documents/{doc_id}/content`, which does both. Under a grant, `upload` is that request, and requires the access token.',
    tag: TAG,
    credential: 'api_key',
    grantToken: creates('DocumentReference'),
    scope: 'write',
    headers: AUTHOR,
    body: documentInput,
    answers: { 201: { description: 'The document, and where to send its content', schema: createdSchema } },
    async run(request) {
      const { services, retry, params } = request;
      const { author_type, ...given } = request.body;
      const { patient_id: patient } = params;
      // If there was an earlier attempt, its result is returned even if the patient has been deleted since.
      if ((retry?.earlier.size ?? 0) === 0) await liveResource(request, 'Patient', patient);
      const command = makeCommandContext(request, author_type);
      const type = 'DocumentReference';
      const resource = { value: toDocument(given, `Patient/${patient}`), exact: false };
      const { result, position } = await namingInputs(services.commands.create(command, type, resource));
      const { id, version, lastUpdated = '' } = result;
      const times = { version, created: lastUpdated, updated: lastUpdated };
      const stored = writtenBody(result);
      const record = renderRecord(
        { type, id, patient, ...times, author: command.authorship },
        { ...shownDocument(stored), download_url: null },
      );
      const upload = await uploadTarget(request, { patient, document: id }, given.content_type);
      return {
        status: 201,
        headers: { Location: `${services.config.baseUrl}/v1/documents/${id}` },
        body: { ...record, upload, ...warningsIn(request, stored, result) },
        position,
      };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/patients/{patient_id}/documents',
    operationId: 'listDocuments',
    summary: 'A patient’s documents, the most recently recorded first',
    description: `${PAGED} A document whose bytes haven’t arrived has the status \`pending\`.`,
    tag: TAG,
    credential: 'api_key',
    grantToken: {
      action: 'search-type',
      needs: [{ type: 'DocumentReference', letters: 's' }],
      type: 'DocumentReference',
    },
    models: LIST_MODELS,
    query: z.strictObject({ ...LIST_QUERY, ...PAST_QUERY, kind: z.enum(DOCUMENT_KINDS).optional() }),
    answers: { 200: { description: 'A page', schema: listSchema(documentSchema) } },
    async run(sent) {
      const { kind, as_of: asOf, ...page } = sent.query;
      const request = await atMoment(sent, asOf);
      const { patient_id: patient } = request.params;
      await liveResource(request, 'Patient', patient);
      const tokens = (codes: readonly string[]): string =>
        codes.map((code) => makeToken(LOINC, code)).join(',');
      const criteria: [string, string][] = [['status:not', 'entered-in-error']];
      if (kind === 'other') criteria.push(['type:not', tokens(KNOWN_CODES)]);
      else if (kind !== undefined) criteria.push(['type', tokens(codesOfKind(kind))]);
      const listed = { type: 'DocumentReference', patient, criteria, asOf, ...page } as const;
      return listRecords(request, listed, (document) => ({ ...shownDocument(document), download_url: null }));
    },
  }),
  route({
    method: 'GET',
    path: '/v1/documents/{doc_id}',
    operationId: 'getDocument',
    summary: 'Read the description of a document',
    description:
      'Returns the description of the document; its bytes are at `/v1/documents/{doc_id}/content`.',
    tag: TAG,
    credential: 'api_key',
    grantToken: READS_DOCUMENT,
    query: z.strictObject(PAST_QUERY),
    answers: { 200: { description: 'The document', schema: documentSchema } },
    async run(sent) {
      const request = await atMoment(sent, sent.query.as_of);
      const found = await shownResource(request, 'DocumentReference', request.params.doc_id);
      const download_url = await withDownload(request, documentIn(found));
      const [body] = await shownRecords(request, [found], (document) => ({
        ...shownDocument(document),
        download_url,
      }));
      return { status: 200, body };
    },
  }),
  route({
    method: 'PUT',
    path: '/v1/documents/{doc_id}/content',
    operationId: 'putDocumentContent',
    summary: 'Upload the content of a document through the service, and finalize it',
    description:
      'Send the content as the body. `Content-Type` must be the document’s, or absent; the service checks the content against it. Content cannot be replaced: 409. The author headers default to the values sent when the document was created.',
    tag: TAG,
    credential: 'api_key',
    grantToken: SENDS_CONTENT,
    scope: 'write',
    takes: 'bytes',
    headers: AUTHOR,
    showsStored: true,
    answers: { 200: { description: 'The document, final', schema: finalizedSchema } },
    async run(request) {
      const { services, incoming, params } = request;
      const found = await documentToFill(request, params.doc_id);
      const { document, resource, patient } = openDocument(found);
      const { created, metadata } = await readCreation(request, found);
      const command = finalizingCommand(request, metadata);
      const expected = readExpected(services, resource);
      const { store } = services.documents;
      const key = { patient, document, blob: newUuid() };
      const digested = await receive(store, key, incoming, expected);
      try {
        const bytes = await checkedBytes(key.blob, digested, expected.contentType);
        const { result, position } = await services.commands.finalizeDocument(command, document, bytes);
        return {
          ...(await shownFinal(request, command, result, { patient, created: toInstant(created) })),
          position,
        };
      } catch (error) {
        // The bytes must be kept if the event may have been written.
        if (error instanceof Refusal && error.kind !== 'unavailable') await store.remove(key);
        throw error;
      }
    },
  }),
  route({
    method: 'PUT',
    path: '/v1/documents/{doc_id}/upload',
    operationId: 'uploadDocument',
    summary: 'Upload the content of a document to the URL in the answer to its creation',
    description:
      'Works once, until it expires, without another credential. Finalize the document afterwards.',
    tag: TAG,
    credential: 'none',
    grantToken: 'refused',
    models: ['resources'],
    takes: 'bytes',
    query: z.strictObject({
      expires: z
        .string()
        .regex(/^\d{1,12}$/)
        .describe('Unix time.'),
      signature: z.string().max(100),
    }),
    answers: {
      200: {
        description: 'The stored content',
        schema: z.object({ size: z.int(), sha256: z.string().describe('Hex.') }),
      },
      403: { description: 'The URL has expired, or its signature is invalid', schema: errorBody },
    },
    async run({ services, incoming, params, query }) {
      const { store, key, findSlot } = services.documents;
      const right = { document: params.doc_id, expires: Number(query.expires) };
      if (!isSigned(key, right, query.signature) || right.expires * 1_000 < Date.now()) {
        const diagnostics =
          'the URL has expired, or its signature is invalid; PUT the content to /v1/documents/<id>/content instead';
        throw new Refusal('forbidden', { code: 'forbidden', diagnostics });
      }
      const slot = await findSlot(right.document);
      if (slot === undefined) throw notFound('DocumentReference', right.document);
      const { resource } = openDocument({ id: right.document, body: slot.body });
      const blob = { patient: slot.patient, document: right.document, blob: DIRECT };
      try {
        const { size, sha256 } = await receive(store, blob, incoming, readExpected(services, resource));
        // If the document has been deleted or purged in the meantime, its bytes must not be kept.
        if ((await findSlot(right.document)) === undefined) {
          await store.remove(blob);
          throw notFound('DocumentReference', right.document);
        }
        return { status: 200, body: { size, sha256 } };
      } catch (error) {
        if (!(error instanceof BlobExists)) throw error;
        const diagnostics = 'the URL was already used; the content is uploaded and can be finalized';
        throw new Refusal('conflict', { code: 'conflict', diagnostics });
      }
    },
  }),
  route({
    method: 'POST',
    path: '/v1/documents/{doc_id}/finalize',
    operationId: 'finalizeDocument',
    summary: 'Finalize a document whose content was uploaded to its upload URL',
    description:
      'If you send `size` or `sha256`, they are compared with the content, which also requires the scope `read`. Finalizing again changes nothing. The author headers default to the values sent when the document was created.',
    tag: TAG,
    credential: 'api_key',
    grantToken: SENDS_CONTENT,
    scope: 'write',
    headers: AUTHOR,
    body: finalizeInput,
    showsStored: true,
    answers: { 200: { description: 'The document, final', schema: finalizedSchema } },
    async run(request) {
      const { services, params, body } = request;
      const { author_type, ...sent } = body;
      makeCommandContext(request, author_type);
      if (!mayRead(request.caller, 'DocumentReference')) refuseComparing(sent);
      const found = await documentToFill(request, params.doc_id);
      const [held] = heldContents(resourceIn(found.body), found.id);
      if (held !== undefined) {
        agree(sent, held);
        const download_url = await withDownload(request, documentIn(found));
        request.pass?.shows('read', 'DocumentReference', found.id);
        const [shown] = await shownRecords(request, [found], (each) => ({
          ...shownDocument(each),
          download_url,
        }));
        const lastUpdated = toInstant(found.lastUpdated);
        return {
          status: 200,
          body: { ...shown, ...warningsIn(request, resourceIn(found.body), { lastUpdated }) },
        };
      }
      const { document, resource, patient } = openDocument(found);
      const { created, metadata } = await readCreation(request, found);
      const command = finalizingCommand(request, metadata, author_type);
      const { store } = services.documents;
      const { contentType, limit } = readExpected(services, resource);
      const digested = await reread(store, { patient, document, blob: DIRECT }, limit).catch(notUploaded);
      agree(sent, digested);
      const bytes = await checkedBytes(DIRECT, digested, contentType);
      const { result, position } = await services.commands.finalizeDocument(command, document, bytes);
      return {
        ...(await shownFinal(request, command, result, { patient, created: toInstant(created) })),
        position,
      };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/documents/{doc_id}/content',
    operationId: 'getDocumentContent',
    summary: 'The content of a document, unchanged',
    description: 'Send `Range` to get a part. `ETag` is the SHA-256.',
    tag: TAG,
    credential: 'api_key',
    grantToken: { ...READS_DOCUMENT, action: 'content' },
    headers: {
      Range: '`bytes=0-99`: a part.',
      'If-Range': 'Send the part only if the ETag is still this one.',
      'If-None-Match': '304 if the ETag is still this one.',
    },
    query: z.strictObject({
      attachment: z
        .string()
        .max(64)
        .optional()
        .describe('`id` of the attachment, if a document written through FHIR has several.'),
    }),
    answers: {
      200: { description: 'The bytes', bytes: true },
      206: { description: 'The requested range', bytes: true },
      304: { description: 'The content is unchanged' },
      416: { description: 'The range is outside the content; `Content-Range` has its length' },
    },
    async run(request) {
      const { services, header, incoming, params, query } = request;
      const found = await liveResource(request, 'DocumentReference', params.doc_id);
      const { document, patient, contents } = documentIn(found);
      const asked = contents.find(({ blob }) => query.attachment === undefined || blob === query.attachment);
      if (asked === undefined) throw notFound('the content of DocumentReference', document);
      const key = { patient, document, blob: asked.blob };
      const isThere = async () => {
        if (await services.documents.isErasing(patient)) throw notFound('DocumentReference', document);
        return liveResource(request, 'DocumentReference', document);
      };
      return download(services.documents.store, key, asked, { header, method: incoming.method, isThere });
    },
  }),
];

/**
 * Refuses a comparison with stored bytes if the caller lacks the scope `read`.
 * @throws Refusal forbidden (403)
 */
function refuseComparing(sent: { readonly size?: unknown; readonly sha256?: unknown }): void {
  for (const name of ['size', 'sha256'] as const)
    if (sent[name] !== undefined)
      throw new Refusal('forbidden', {
        code: 'forbidden',
        diagnostics: `comparing ${name} with the stored content requires the scope read (under a grant the letter r of DocumentReference), which this credential doesn't have; leave ${name} out`,
        expression: name,
      });
}

/**
 * Checks that the upload matches the expected properties.
 * @throws Refusal invalid (422) if it doesn't.
 */
function agree(
  sent: { readonly size?: number | undefined; readonly sha256?: string | undefined },
  stored: { readonly size: number; readonly sha256: string },
): void {
  const issues = (['size', 'sha256'] as const).flatMap((name) =>
    sent[name] === undefined || sent[name] === stored[name]
      ? []
      : [
          {
            code: 'value' as const,
            diagnostics: `${name} is ${sent[name]}, but the stored content has ${stored[name]}`,
            expression: name,
          },
        ],
  );
  if (issues.length > 0) throw new Refusal('invalid', issues);
}

function notUploaded(error: unknown): never {
  if (!(error instanceof BlobMissing)) throw error;
  const diagnostics = 'no content has been uploaded yet; PUT it to the document’s upload URL first';
  throw new Refusal('conflict', { code: 'conflict', diagnostics });
}
