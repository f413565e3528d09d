/** Splits long texts into parts. Pure. */
import { cut } from '#src/shared/cut.ts';
import { PAGE_BYTES } from './ask.ts';
import { ToolFault } from './fault.ts';

/**
 * Returns the part of a text at a cursor, and the cursor of the next part.
 * @throws ToolFault for another text's cursor
 */
export function cutText(
  text: string,
  cursor: string | undefined,
): { readonly text: string; readonly next: string | null } {
  const start = Number(cursor ?? '0');
  if (!Number.isInteger(start) || start < 0 || start > text.length)
    throw new ToolFault('cursor is not one of this text; send next_cursor of the previous answer');
  // A character has at most three bytes for each of its UTF-16 units.
  const part = cut(text.slice(start), Math.floor(PAGE_BYTES / 3));
  const end = start + part.length;
  return { text: part, next: end < text.length ? String(end) : null };
}
