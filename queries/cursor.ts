/** Cursors: where a page ended, opaque to callers. They hold keys that come from events, never serial numbers. */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { Refusal } from '#src/shared/refusal.ts';

/** The query parameter that carries a cursor. */
export const CURSOR = '_cursor';

/** A page's last key as URL-safe text. */
export function encodeCursor(key: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/**
 * The key in a cursor.
 * @param schema what this listing's keys look like.
 * @throws Refusal `malformed` for a text that is no cursor of this listing.
 */
export function decodeCursor<T>(text: string, schema: z.ZodType<T>): T {
  const key = keyIn(text, schema);
  if (key !== undefined) return key;
  throw new Refusal('malformed', {
    code: 'value',
    diagnostics: `${CURSOR} is not a cursor of this list; start again without it`,
    expression: `query.${CURSOR}`,
  });
}

/**
 * As `decodeCursor`, for lists of the JSON interfaces, whose parameter is `cursor`.
 * @throws Refusal `invalid` (422)
 */
export function decodeListCursor<T>(text: string, schema: z.ZodType<T>): T {
  const key = keyIn(text, schema);
  if (key !== undefined) return key;
  throw new Refusal('invalid', {
    code: 'value',
    diagnostics: 'query.cursor is not a cursor of this list; start again without it',
    expression: 'query.cursor',
  });
}

/**
 * A cursor that is good for one list only.
 * @param list says which, with its filters.
 */
export function encodeCursorOf(list: string, key: readonly (string | number | null)[]): string {
  return encodeCursor([markOf(list), ...key]);
}

/**
 * As `decodeListCursor`, of what `encodeCursorOf` made for the same list.
 * @throws Refusal `invalid` (422), for another list's cursor too.
 */
export function decodeCursorOf<T>(list: string, text: string, schema: z.ZodType<T>): T {
  const [mark, ...key] = decodeListCursor(text, marked);
  return decodeListCursor(mark === markOf(list) ? encodeCursor(key) : '', schema);
}

const marked = z.tuple([z.string()], z.union([z.string(), z.number(), z.null()]));

/** 64 bits of a list's hash. */
function markOf(list: string): string {
  return hash('sha256', list, 'base64url').slice(0, 11);
}

function keyIn<T>(text: string, schema: z.ZodType<T>): T | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return schema.safeParse(value).data;
  } catch {
    return undefined;
  }
}
