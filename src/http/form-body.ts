/** Reads form bodies with koa-body: `POST <type>/_search`, OAuth, the pages. */
import type { Context } from 'koa';
import { koaBody } from 'koa-body';
import { parseQuery } from '#src/shared/query-text.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { decodeBody, hasBody, type RawBody } from './body.ts';

const FORM = 'application/x-www-form-urlencoded';

/** Maximum length of a form after decompression, in bytes. */
const LIMIT = 100_000;

const parse = koaBody({
  urlencoded: true,
  json: false,
  text: false,
  multipart: false,
  formLimit: LIMIT,
  includeUnparsed: true,
  // Preserves every byte; the text is decoded strictly below.
  encoding: 'latin1',
});

/**
 * Reads a form's parameters, including repeated ones; returns no parameters if there is no body.
 * @throws Refusal unsupported_media_type (415) for any other body, too_large (413), malformed (400).
 */
export async function readForm(ctx: Context): Promise<URLSearchParams> {
  if (!hasBody(ctx.req)) return new URLSearchParams();
  if (!ctx.is(FORM)) {
    throw new Refusal('unsupported_media_type', {
      code: 'not-supported',
      diagnostics: `Content-Type must be ${FORM}`,
    });
  }
  try {
    await parse(ctx, async () => undefined);
  } catch (error) {
    throw refused(error);
  }
  // The text as received. The parameters that co-body parses can't be used, because it would merge repeated ones, which mean
  // AND here.
  const { rawBody } = ctx.request as { rawBody?: unknown };
  const bytes = Buffer.from(typeof rawBody === 'string' ? rawBody : '', 'latin1');
  return parseQuery(decodeBody({ mediaType: FORM, bytes }), 'the form');
}

/**
 * Reads a form as the body of a pipeline request.
 * @throws the same errors as `readForm`
 */
export async function readFormBody(ctx: Context): Promise<RawBody> {
  return { mediaType: FORM, bytes: Buffer.from((await readForm(ctx)).toString()) };
}

/** Returns the parameters in a body that `readFormBody` has read. */
export function formIn(body: RawBody | undefined): URLSearchParams {
  return new URLSearchParams(body?.bytes.toString());
}

function refused(error: unknown): Refusal {
  if (error instanceof Error && 'status' in error && error.status === 413) {
    return new Refusal('too_large', {
      code: 'too-long',
      diagnostics: `a form may be ${LIMIT} bytes at most`,
    });
  }
  return new Refusal('malformed', {
    code: 'structure',
    diagnostics: 'the form is not valid application/x-www-form-urlencoded',
  });
}
