/** Cursors: the place where a page ended, opaque to callers. They contain keys from events, never serial numbers. */
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { z } from 'zod';
import { Refusal } from '#src/shared/refusal.ts';

/** The query parameter that carries a cursor. */
export const CURSOR = '_cursor';

/** Returns a page's last key as URL-safe text. */
export function encodeCursor(key: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/**
 * Returns the key in a cursor.
 * @param schema the schema of this listing's keys
 * @throws Refusal `malformed` for a cursor from a different listing
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
 * Decodes a cursor like `decodeCursor`, for lists of the JSON interfaces, whose parameter is `cursor`.
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
 * Returns a cursor that is valid for only one list.
 * @param list identifies the list, including its filters
 */
export function encodeCursorFor(list: string, key: readonly (string | number | null)[]): string {
  return encodeCursor([listMark(list), ...key]);
}

/**
 * Decodes a cursor from `encodeCursorFor` for the same list.
 * @throws Refusal `invalid` (422), also for a different list's cursor
 */
export function decodeCursorFor<T>(list: string, text: string, schema: z.ZodType<T>): T {
  const [mark, ...key] = decodeListCursor(text, marked);
  return decodeListCursor(mark === listMark(list) ? encodeCursor(key) : '', schema);
}

/**
 * Returns the refusal (422) of a cursor whose item no longer exists.
 * @param what the kind of item, such as `concept`
 */
export function staleCursor(what: string): Refusal {
  return new Refusal('invalid', {
    code: 'value',
    diagnostics: `query.cursor names a ${what} that is gone; start again without it`,
    expression: 'query.cursor',
  });
}

const marked = z.tuple([z.string()], z.union([z.string(), z.number(), z.null()]));

/** Returns 64 bits of a list's hash. */
function listMark(list: string): string {
  return hash('sha256', list, 'base64url').slice(0, 11);
}

function keyIn<T>(text: string, schema: z.ZodType<T>): T | undefined {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text || !isUtf8(bytes)) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return schema.safeParse(value).data;
  } catch {
    return undefined;
  }
}
