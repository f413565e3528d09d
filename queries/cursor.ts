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
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    value = undefined;
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Refusal('malformed', {
    code: 'value',
    diagnostics: `${CURSOR} is not a cursor of this listing`,
    expression: `query.${CURSOR}`,
  });
}
