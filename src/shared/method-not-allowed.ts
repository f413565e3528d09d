/** The refusal for a method that a URL doesn't support. */
import { cut } from '#src/shared/cut.ts';
import { Refusal } from './refusal.ts';

/**
 * Returns the refusal method_not_allowed (405), whose text and `Allow` header list the URL's methods (RFC 9110, section
 * 15.5.6).
 * @param what the problem, without a full stop: `PATCH is not supported here`
 * @param allow value of `Allow`: names of methods, separated by commas
 */
export function methodNotAllowed(what: string, allow: string): Refusal {
  const diagnostics = what + methodsOfUrl(allow);
  return new Refusal('method_not_allowed', { code: 'not-supported', diagnostics }, { Allow: allow });
}

/**
 * Returns the end of the text, which lists the URL's methods. It must be left out for a Bundle entry, because the URL of the
 * request itself is a different one.
 */
export function methodsOfUrl(allow: string): string {
  return `; the methods of this URL are ${allow}`;
}

/**
 * Returns the message for a method that the URL doesn't support.
 * @param method the requested method
 */
export function notSupportedHere(method: string): string {
  return `${cut(method, 20)} is not supported here`;
}
