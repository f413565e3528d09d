/** Handles byte ranges: https://www.rfc-editor.org/rfc/rfc9110#section-14 */
import fresh from 'fresh';
import type { ByteRange } from '#src/documents/store.ts';
import type { Header } from './authorship.ts';

/**
 * Returns the requested range. Returns undefined for the whole content, which is also sent if several ranges or a unit other
 * than bytes are requested, or if `If-Range` names another ETag. The package range-parser (1.2.1) isn't used, because it
 * refuses a suffix that is longer than the content, which RFC 9110 treats as the whole content.
 * @param size the content's size in bytes.
 * @returns `none` if the range is outside the content: 416.
 */
export function rangeIn(header: Header, size: number, etag: string): ByteRange | 'none' | undefined {
  const condition = header('if-range');
  if (condition !== undefined && condition.trim() !== etag) return undefined;
  const [, first = '', last = ''] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header('range') ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'none' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) return 'none';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

/** Returns whether `If-None-Match` names the current content. */
export function isKnown(header: Header, etag: string): boolean {
  return fresh({ 'if-none-match': header('if-none-match') }, { etag });
}
