import { z } from 'zod';
import { withdrawnAs } from '#src/clinical/reading/status.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { askJson, askPage, findPatient, readText, requireOk } from '../ask.ts';
import { oneLine } from '../entry-line.ts';
import { ToolFault } from '../fault.ts';
import { cutText } from '../long-text.ts';
import { besideAi, entries, leftOutByScope, recordOutput, recordText } from '../record-content.ts';
import { AS_OF, COMMON, CURSOR, defineTool, LIMIT, TEXT_TOKENS } from '../tool.ts';

const MEGABYTE = 1_000_000;
/** The maximum number of bytes that are read to extract text, and the maximum number that are passed on. */
const MOST_READ = 20 * MEGABYTE;
const MOST_PASSED = 5 * MEGABYTE;

/** States in which a document is no longer valid. */
const WITHDRAWN = ['entered in error', 'superseded'] as const;

/** Lists the documents of a record. */
export const listDocuments = defineTool({
  name: 'list_documents',
  title: 'Documents of the record',
  description:
    'Letters, reports, images and other documents, the most recently recorded first. read_document returns their content.',
  input: z.strictObject({ ...COMMON, limit: LIMIT, as_of: AS_OF, text_tokens: TEXT_TOKENS, cursor: CURSOR }),
  output: recordOutput(z.object({ entries })),
  async run({ patient, text_tokens, cursor, ...query }, reach) {
    const id = await findPatient(reach, patient);
    const path = `/v1/patients/${id}/documents`;
    const { items, next } = await askPage(reach, { path, query }, cursor);
    const { total } = await askJson(reach, {
      path: `/fhir/R4/Patient/${id}/DocumentReference`,
      query: { status: 'entered-in-error', _summary: 'count', _asOf: query.as_of },
    });
    const inError = Number(total);
    const facts = items.filter((each) => !isOfAi(each));
    return {
      text: recordText(
        [
          `${facts.length} documents on this page${besideAi(items.length - facts.length)}`,
          ...(inError === 0 ? [] : [`Not listed: ${inError} entered in error.`]),
        ].join(' '),
        facts.map(documentLine),
        text_tokens,
      ),
      structured: {
        record_content: { entries: facts },
        ai_written: items.filter(isOfAi),
        incomplete: [
          ...leftOutByScope(await reach.grant(), ['DocumentReference'], 's'),
          ...leftOutInError(inError),
        ],
        next_cursor: next,
      },
      versions: items.map(printVersion),
    };
  },
});

/** Returns how many documents the list leaves out because they were entered in error. */
function leftOutInError(count: number): JsonObject[] {
  return count === 0 ? [] : [{ left_out_by: 'error', what: 'documents that were entered in error', count }];
}

/** Reads the content of a document. */
export const readDocument = defineTool({
  name: 'read_document',
  title: 'Read a document',
  description:
    'The text of a document (PDF, HTML, plain text, JSON, XML), or the document itself: images and other files up to 5 MB.',
  input: z.strictObject({
    id: z.string().max(64).describe('The id of the document, from list_documents.'),
    text_tokens: TEXT_TOKENS,
    cursor: CURSOR,
  }),
  output: recordOutput(
    z.object({
      document: z
        .looseObject({})
        .optional()
        .describe('Absent if an AI wrote the document, which is then in ai_written.'),
      text: z.string().optional().describe('Its text, or a part of it.'),
      withdrawn: z
        .enum(WITHDRAWN)
        .optional()
        .describe('Why the document is not valid. Never state its content as fact.'),
    }),
  ),
  async run({ id, text_tokens, cursor }, reach) {
    const path = `/v1/documents/${encodeURIComponent(id)}`;
    const document = await askJson(reach, { path });
    const { content_type, size, status } = document;
    if (status !== 'final') throw new ToolFault('the document has no content yet');
    if (Number(size) > MOST_READ)
      throw new ToolFault(`the document has ${String(size)} bytes; at most ${MOST_READ} are read here`);
    const bytes = Buffer.from(requireOk(await reach.ask({ path: `${path}/content` })).body);
    const mediaType = readText(content_type) ?? 'application/octet-stream';
    const text = await reach.readFile(mediaType, bytes);
    const part = text === undefined ? { next: null } : cutText(text, cursor);
    const withdrawn = findWithdrawn(await askJson(reach, { path: `/fhir/R4/${printVersion(document)}` }));
    const content: JsonObject = {
      document,
      ...('text' in part ? { text: part.text } : {}),
      ...(withdrawn === undefined ? {} : { withdrawn }),
    };
    const isAi = isOfAi(document);
    const heading = [
      isAi ? 'A document that an AI wrote; nobody has verified it.' : 'A document of the record.',
      ...(withdrawn === undefined ? [] : [`It is ${withdrawn}: don’t state its content as fact.`]),
    ].join(' ');
    if (text === undefined && bytes.length > MOST_PASSED)
      throw new ToolFault(
        `the document has no text, and ${bytes.length} bytes; at most ${MOST_PASSED} are passed on`,
      );
    return {
      text: recordText(
        heading,
        [documentLine(document), ...('text' in part ? part.text.split(/\r?\n/) : [])],
        text_tokens,
      ),
      structured: {
        record_content: isAi ? {} : content,
        ...(isAi ? { ai_written: [content] } : {}),
        incomplete: [],
        next_cursor: part.next,
      },
      versions: [printVersion(document)],
      ...(text === undefined
        ? {
            file: {
              mediaType: bareType(mediaType),
              base64: bytes.toString('base64'),
              uri: `${reach.base}${path}/content`,
            },
          }
        : {}),
    };
  },
});

/** Returns why a DocumentReference is no longer valid. */
function findWithdrawn(reference: JsonObject): (typeof WITHDRAWN)[number] | undefined {
  if (withdrawnAs(reference) !== undefined) return 'entered in error';
  return reference.status === 'superseded' ? 'superseded' : undefined;
}

/** Returns a media type without its parameters, which may contain any text. */
const bareType = (mediaType: string): string => (mediaType.split(/[;\s]/, 1)[0] ?? '').toLowerCase();

const isOfAi = ({ author_type }: JsonObject): boolean => author_type === 'ai';

const printVersion = ({ fhir, version }: JsonObject): string => `${String(fhir)}/_history/${String(version)}`;

function documentLine(document: JsonObject): string {
  const { date, kind, title, content_type, size } = document;
  const said = [
    date ?? 'no date',
    kind,
    title ?? 'no title',
    content_type ?? '',
    `${String(size ?? 0)} bytes`,
  ];
  return `${printVersion(document)}: ${oneLine(said.map(String).join(' · '))}`;
}
