/** Cursors: where a page ended, opaque to callers. They hold keys that come from events, never serial numbers. */
import type { z } from 'zod';
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
    diagnostics: `${CURSOR} is not a cursor of this listing`,
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
    diagnostics: 'query.cursor is not a cursor of this list',
    expression: 'query.cursor',
  });
}

function keyIn<T>(text: string, schema: z.ZodType<T>): T | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return schema.safeParse(value).data;
  } catch {
    return undefined;
  }
}
