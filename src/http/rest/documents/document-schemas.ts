/**
 * Defines the form in which documents are sent and shown (docs/spec/interface.md, section 2.2; docs/spec/decisions.md, section
 * 4).
 */
import { z } from 'zod';
import { DOCUMENT_KINDS } from '#src/v1/document.ts';
import { writtenSchema } from '../inputs.ts';
import { authorType, common, date, ids, optional, text } from '../schemas.ts';

const TOKEN = "[\\w!#$&^.+'*`|~-]+";
/** RFC 9110, section 8.3.1. */
const MEDIA_TYPE = new RegExp(
  `^${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|"[ \\w!#-\\[\\]-~]*")){0,100}$`,
);

const kind = z.enum(DOCUMENT_KINDS);

const shown = {
  ...ids,
  title: z.string().nullable(),
  kind,
  content_type: z.string().nullable(),
  date: z.string().nullable(),
  description: z.string().nullable(),
  status: z.enum(['pending', 'final']).describe('`pending` until it has content.'),
  size: z.int().nullable().describe('Bytes.'),
  sha256: z.string().nullable().describe('SHA-256 of the content, in hex.'),
  download_url: z
    .string()
    .nullable()
    .describe(
      'Where the content is fetched from the store itself, for 15 minutes; null in lists, and where only the service gives it.',
    ),
  ...common,
};

export const documentSchema = z.object(shown).meta({ id: 'Document' });

/** A document in the response to its finalization. */
export const finalizedSchema = writtenSchema(documentSchema, 'WrittenDocument');

const created = z.object({
  ...shown,
  upload: z
    .object({
      url: z.string(),
      method: z.literal('PUT'),
      headers: z.record(z.string(), z.string()).describe('Headers that the upload must have.'),
      expires_in_seconds: z.int(),
    })
    .describe(
      'Where the content may go, once, without a credential; it is finalized then. Under a grant it takes the access token, and finalizes the document.',
    ),
});

/** A document that has just been created. */
export const createdSchema = writtenSchema(created, 'CreatedDocument');

/** The body that creates a document. */
export const documentInput = z
  .strictObject({
    title: text.max(1_000),
    kind: kind.nullish().transform((given) => given ?? 'other'),
    content_type: z.string().max(200).regex(MEDIA_TYPE, 'must be a media type, such as application/pdf'),
    date: optional(date),
    description: optional(text),
    author_type: authorType,
  })
  .meta({
    examples: [
      {
        title: 'Discharge letter',
        kind: 'discharge_summary',
        content_type: 'application/pdf',
        date: '2026-03-20',
      },
    ],
  });

/** The body that finalizes a document. */
export const finalizeInput = z
  .strictObject({
    size: optional(z.int().nonnegative()).describe('The size in bytes that the content should have.'),
    sha256: optional(
      z
        .string()
        .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hex digits')
        .transform((hex) => hex.toLowerCase()),
    ).describe('The SHA-256 in hex that the content should have.'),
    author_type: authorType,
  })
  .meta({ examples: [{}] });
