/** Decodes text in URLs, forms and headers. Bytes and percent-escapes that can't be decoded are refused. */
import { isUtf8 } from 'node:buffer';
import { Refusal } from './refusal.ts';

/**
 * Decodes a query, a form or criteria (https://url.spec.whatwg.org/#urlencoded-parsing), where `+` is a blank.
 * @param what the name of the text in error messages
 * @param expression the `expression` of the text in issues
 * @throws Refusal malformed (400) for an escape that can't be decoded as UTF-8: the standard would replace it by U+FFFD, so
 *   that different texts would become the same
 */
export function parseQuery(text: string, what = 'the query', expression = 'query'): URLSearchParams {
  requireDecodable(text, what, expression);
  return new URLSearchParams(text);
}

/**
 * Checks the percent-escapes in a text.
 * @throws the same Refusal malformed (400) as `parseQuery`
 */
export function requireDecodable(text: string, what: string, expression?: string): void {
  if (!text.includes('%')) return;
  try {
    decodeURIComponent(text);
  } catch {
    throw new Refusal('malformed', {
      code: 'structure',
      diagnostics: `${what} has a percent-encoding that can't be decoded as UTF-8; write ü as %C3%BC, and a percent sign as %25`,
      ...(expression === undefined ? {} : { expression }),
    });
  }
}

/** Decodes bytes that Node read as Latin-1: to UTF-8 if they are valid UTF-8; otherwise, they stay Latin-1. */
export function decodeBytes(value: string): string {
  if (!/[\x80-\xff]/.test(value)) return value;
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : value;
}
