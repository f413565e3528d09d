/** Form bodies: `POST <type>/_search`, OAuth, the pages. */
import type { Context } from 'koa';
import { parseQuery } from '#src/shared/query-text.ts';
import { type BodyLimits, hasBody, readBody, textOf } from './body.ts';
import { FieldCount } from './body-count.ts';

const FORM = ['application/x-www-form-urlencoded'];

const FORMS: BodyLimits = {
  accepted: FORM,
  anyCharset: FORM,
  bytes: 100_000,
  count: () => new FieldCount(),
};

/**
 * Reads the parameters of a form, repeated ones included; none without a body.
 * @throws Refusal unsupported_media_type (415) for another body, too_large (413), malformed (400).
 */
export async function readForm(ctx: Context): Promise<URLSearchParams> {
  if (!hasBody(ctx.req)) return new URLSearchParams();
  // Too short to be counted among the memory of large bodies.
  const body = await readBody(ctx.req, FORMS, () => undefined);
  return parseQuery(textOf(body), 'the form');
}
