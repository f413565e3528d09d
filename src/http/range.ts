/** Parts of bytes: https://www.rfc-editor.org/rfc/rfc9110#section-14 */
import type { ByteRange } from '#src/documents/store.ts';
import type { Header } from './authorship.ts';

/**
 * The part that is asked for; undefined: all of it, also where several parts are asked for, or a unit other than bytes, or
 * `If-Range` names another ETag.
 * @param size how many bytes there are.
 * @returns `none` when there is nothing in that range: 416.
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

/** Whether `If-None-Match` names what is there. */
export function isKnown(header: Header, etag: string): boolean {
  const known = header('if-none-match');
  if (known === undefined) return false;
  return known.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()));
}
