/** Defines schemas that many routes share. */
import { z } from 'zod';

/**
 * Returns the schema for a whole number in a query string.
 * @param fallback the value if it is absent
 */
export function wholeNumber(least: number, most: number, fallback: number) {
  return z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(least).max(most))
    .prefault(String(fallback));
}

/** The sentence at the beginning of every list's description. */
export const PAGED =
  'Returns a page; `next_cursor` leads to the next one. Nothing is skipped or shown twice while others write.';

/**
 * The query parameters of every list: `limit` from 1 to 200, default 50, and `cursor` (docs/spec/interface.md, section 4.3).
 */
export const LIST_QUERY = {
  limit: wholeNumber(1, 200, 50).describe('Maximum number of items in the answer.'),
  cursor: z.string().max(1_000).optional().describe('`next_cursor` from the previous page.'),
};

/**
 * Returns the schema for a list (docs/spec/decisions.md, section 4).
 * @param item schema for an item
 */
export function listSchema<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    total: z.int().describe('Total number of items on all pages.'),
    next_cursor: z.string().nullable().describe('The `cursor` for the next page; null on the last page.'),
  });
}

/** A moment, UTC. */
export const instant = z.string().describe('ISO 8601, UTC.').meta({ format: 'date-time' });

/** A patient's grant to an application (docs/spec/decisions.md, section 4). */
export const grant = z.object({
  id: z.string(),
  status: z.enum(['active', 'revoked', 'expired']),
  purpose: z.string().nullable(),
  application: z.object({
    id: z.string(),
    name: z.string(),
    kind: z.string().describe('`public` or `confidential`.'),
    organization: z.string().describe('Its name.'),
    privacy_url: z.string().nullable(),
  }),
  scopes: z.array(z.string()).describe('As granted, in SMART v2 form.'),
  scopes_text: z.array(z.string()).describe('The sentences that the person read and allowed.'),
  granted_at: instant,
  expires_at: instant,
  revoked_at: instant.nullable(),
  granted_by: z
    .enum(['patient', 'representative', 'creator'])
    .describe('`representative`: someone who looks after the patient. `creator`: the identity grant.'),
});

/** A project's two environments (docs/spec/interface.md, section 1). */
export const environment = z.enum(['sandbox', 'production']);

/** The body of every error in the JSON interfaces (docs/spec/decisions.md, section 2). */
export const errorBody = z
  .object({
    error: z.object({
      type: z.enum([
        'malformed',
        'unauthenticated',
        'forbidden',
        'not_found',
        'method_not_allowed',
        'not_acceptable',
        'conflict',
        'precondition_failed',
        'too_large',
        'unsupported_media_type',
        'invalid',
        'throttled',
        'internal',
        'unavailable',
      ]),
      message: z.string().describe('A sentence for developers that says what is wrong.'),
      field: z
        .string()
        .optional()
        .describe(
          'The first invalid input: a dotted path into the body, or `query.`, `header.` or `path.` followed by its name.',
        ),
      errors: z
        .array(z.object({ field: z.string(), code: z.string(), message: z.string() }))
        .optional()
        .describe('Every invalid input.'),
      request_id: z.string().describe('The answer’s `Service-Request-Id`.'),
      doc_url: z.string().optional().describe('Where it is explained.'),
    }),
  })
  .meta({ id: 'Error' });
