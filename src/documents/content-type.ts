/** Compares a document's bytes with its content type. If a type can't be recognised from bytes, the content type is trusted. */
import { fileTypeFromBuffer, supportedMimeTypes } from 'file-type';
import type { Digested } from './digest.ts';

/** Different names for the same type. */
const ALIASES: Readonly<Record<string, string>> = {
  'application/x-pdf': 'application/pdf',
  'application/x-zip-compressed': 'application/zip',
  'application/x-rtf': 'application/rtf',
  'application/x-gzip': 'application/gzip',
  'audio/mp3': 'audio/mpeg',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
  'audio/m4a': 'audio/x-m4a',
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
  'image/x-ms-bmp': 'image/bmp',
  'image/tif': 'image/tiff',
  'text/rtf': 'application/rtf',
  'text/xml': 'application/xml',
};

/** Container formats; a document may have any content type that uses the format. */
const CONTAINERS: Readonly<Record<string, RegExp>> = {
  'application/zip':
    /zip|openxmlformats|opendocument|epub|ms-(?:excel|powerpoint|word)\.|3mf|iwork|jar|java-archive/,
  'application/x-cfb': /^application\/(?:msword|vnd\.ms-|x-msi|vnd\.visio)/,
  'application/xml': /xml|^text\//,
  'application/rtf': /^text\//,
  'application/ogg': /^(?:audio|video)\/ogg/,
  'video/ogg': /^(?:audio|application)\/ogg/,
  'video/mp4': /^audio\/(?:mp4|x-m4a|aac)/,
  'audio/mp4': /^(?:audio\/x-m4a|video\/mp4)/,
  'video/webm': /^audio\/webm/,
  'text/calendar': /^text\/plain/,
  'text/vcard': /^text\/plain/,
};

const TEXT =
  /^text\/|^application\/(?:json|xml|javascript|x-ndjson|hl7-v2)|^x-application\/hl7|\+(?:json|xml)$/;

const ZIP = 'application/zip';

/** Returns whether bytes begin like a ZIP file, including an empty or multi-part one. */
function isZip(head: Buffer): boolean {
  return /^504b(?:0304|0506|0708)/.test(head.subarray(0, 4).toString('hex'));
}

/** Returns the type of the bytes; `unclear` if the beginning isn't enough to recognise the type. */
async function recognized(head: Buffer): Promise<string | undefined> {
  try {
    const found = await fileTypeFromBuffer(head);
    return found === undefined ? undefined : (ALIASES[found.mime] ?? found.mime);
  } catch {
    return isZip(head) ? ZIP : 'unclear';
  }
}

/**
 * Returns the actual type of the bytes if it contradicts the content type; otherwise undefined.
 * @param contentType BCP 13, with parameters
 */
export async function contradiction(contentType: string, bytes: Digested): Promise<string | undefined> {
  const [first = '', ...parameters] = contentType.toLowerCase().split(';');
  const declared = ALIASES[first.trim()] ?? first.trim();
  if (declared === 'application/octet-stream') return undefined;
  const found = await recognized(bytes.head);
  if (found === 'unclear') return undefined;
  if (found !== undefined) {
    const same = found === declared || CONTAINERS[found]?.test(declared) === true;
    return same || (declared === ZIP && isZip(bytes.head)) ? undefined : found;
  }
  if (TEXT.test(declared)) {
    const charset = parameters.map((each) => /^\s*charset="?([^"\s]+)"?\s*$/.exec(each)?.[1]).find(Boolean);
    const unicode =
      charset === undefined || charset === 'utf-8' || charset === 'utf8' || charset === 'us-ascii';
    return unicode && !bytes.text ? 'not UTF-8 text' : undefined;
  }
  if (![...supportedMimeTypes].some((mime) => (ALIASES[mime] ?? mime) === declared)) return undefined;
  return bytes.text ? 'text' : 'of an unknown type';
}
