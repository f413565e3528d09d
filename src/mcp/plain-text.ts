/** Extracts text from a document's bytes, for models, if they are text of any kind, including HTML. */

const TEXTUAL = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml)$)/;

/**
 * Returns whether bytes are a PDF; PDFs are read by a library.
 * @param mediaType with its parameters
 */
export function isPdf(mediaType: string): boolean {
  return bareType(mediaType) === 'application/pdf';
}

const bareType = (mediaType: string): string => mediaType.toLowerCase().split(/[;\s]/, 1)[0] ?? '';

/**
 * Returns the text in the bytes; undefined if they contain no text or are a PDF.
 * @param mediaType with its parameters
 */
export async function readPlainText(mediaType: string, bytes: Buffer): Promise<string | undefined> {
  const type = bareType(mediaType);
  if (!TEXTUAL.test(type)) return undefined;
  const text = decode(mediaType, bytes);
  return type === 'text/html' ? stripHtml(text) : text;
}

function decode(mediaType: string, bytes: Buffer): string {
  const charset = /charset="?([\w-]+)/i.exec(mediaType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString();
  }
}

async function stripHtml(html: string): Promise<string> {
  const { htmlToText } = await import('html-to-text');
  return htmlToText(html, {
    wordwrap: false,
    limits: { maxInputLength: 5_000_000 },
    selectors: [
      { selector: 'a', options: { ignoreHref: true } },
      { selector: 'img', format: 'skip' },
    ],
  });
}
