/** Splits long texts into parts. Pure. */
import { cut } from '#src/shared/cut.ts';
import { PAGE_BYTES } from './ask.ts';
import { ToolFault } from './fault.ts';

/**
 * Returns the part of a text that begins at a cursor, and the cursor of the next part.
 * @throws ToolFault for the cursor of a different text
 */
export function cutText(
  text: string,
  cursor: string | undefined,
): { readonly text: string; readonly next: string | null } {
  const start = Number(cursor ?? '0');
  if (!Number.isInteger(start) || start < 0 || start > text.length)
    throw new ToolFault('cursor is not one of this text; send next_cursor of the previous answer');
  // Each UTF-16 unit of a text takes at most three bytes.
  const part = cut(text.slice(start), Math.floor(PAGE_BYTES / 3));
  const end = start + part.length;
  return { text: part, next: end < text.length ? String(end) : null };
}
