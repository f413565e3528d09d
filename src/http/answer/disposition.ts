/** Builds `Content-Disposition` for downloads: https://www.rfc-editor.org/rfc/rfc6266 */
import { create } from 'content-disposition';
import { withoutNewIds } from '#src/fhir/search/text.ts';
import { cut } from '#src/shared/cut.ts';

/** File extensions of common document types. */
const ENDINGS: Readonly<Record<string, string>> = {
  'application/dicom': 'dcm',
  'application/json': 'json',
  'application/msword': 'doc',
  'application/pdf': 'pdf',
  'application/rtf': 'rtf',
  'application/vnd.oasis.opendocument.text': 'odt',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/xml': 'xml',
  'application/zip': 'zip',
  'image/gif': 'gif',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/tiff': 'tiff',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/xml': 'xml',
};

/** Maximum length of a file name. */
const LONGEST = 150;

/** Returns a document's title as a safe file name with an extension. */
export function fileName(title: string | null, contentType: string): string {
  // Format characters can reverse part of a name, so that its extension looks like a different one (U+202E).
  const cleaned = (title ?? '')
    .replaceAll(/[\p{Cf}\p{Zl}\p{Zp}]+/gu, '')
    .replaceAll(/[\x00-\x1f\x7f-\x9f/\\:*?"<>|]+/g, ' ')
    .replace(/^[.\s]+/, '')
    .trim();
  const plain = cut(withoutNewIds(cleaned, title ?? ''), LONGEST).toWellFormed();
  const name = plain === '' ? 'document' : plain;
  const ending = ENDINGS[(contentType.split(';')[0] ?? '').trim().toLowerCase()];
  if (ending === undefined || name.toLowerCase().endsWith(`.${ending}`)) return name;
  return `${name}.${ending}`;
}

/** Returns `attachment` with a file name, in ASCII and in UTF-8 (RFC 8187). */
export function attachmentAs(name: string): string {
  const letters = name.normalize('NFKD').replaceAll(/[^\x20-\x7e]/g, '');
  const ascii = withoutNewIds(letters, name)
    .replaceAll(/["\\%]/g, '_')
    .trim();
  return create(name, { fallback: ascii === '' ? 'document' : ascii });
}
