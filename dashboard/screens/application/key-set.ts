/** Reads public keys that a person pasted; private keys never leave the page. */
import type { TextKey } from '../../texts/texts.ts';

/** Members of private and symmetric keys (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1). */
const PRIVATE = ['d', 'p', 'q', 'k'];

/** Returns a key set, also for a single key; if the text is invalid, returns the name of the message that says why. */
export function readKeySet(text: string): { readonly keys: object[] } | TextKey {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) return 'applications.keys.private';
  if (text.includes('-----BEGIN')) return 'applications.keys.pem';
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return 'applications.keys.notJson';
  }
  const keys = isObject(read) && Array.isArray(read.keys) ? read.keys : [read];
  if (!keys.every(isObject)) return 'applications.keys.notJson';
  if (keys.some((key) => PRIVATE.some((name) => Object.hasOwn(key, name))))
    return 'applications.keys.private';
  return { keys };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
