/**
 * Checks extensions: https://hl7.org/fhir/R4/extensibility.html#Extension, and the value types of the extensions that R4
 * defines.
 */
import { withArticle } from '#src/shared/article.ts';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { knownExtension, type ValueTypes } from '../definitions/extensions.ts';
import { asArray, type Walk } from './walk.ts';

const ABSOLUTE = /^[A-Za-z][A-Za-z0-9+.-]*:/;

/**
 * Checks ext-1, the format of the URL, and the value type if R4 defines the extension.
 * @param part whether the extension is inside another one. If so, its URL may be relative, and the outer extension defines its
 *   content.
 */
export function checkExtension(extension: JsonObject, hasValue: boolean, part: boolean, walk: Walk): void {
  if (hasValue === (extension.extension !== undefined)) {
    walk.fault('extension', 'must have either a value or extensions, and not both (ext-1)');
  }
  const { url } = extension;
  if (typeof url !== 'string') return;
  if (!part && !ABSOLUTE.test(url)) {
    walk.fault(
      'value',
      'must be an absolute URL: only extensions within an extension have relative ones',
      'url',
    );
    return;
  }
  const known = knownExtension(url);
  if (known !== undefined) checkValueTypes(extension, url, known, walk);
}

function checkValueTypes(extension: JsonObject, url: string, known: ValueTypes, walk: Walk): void {
  const types = known.types === '' ? [] : known.types.split(',');
  for (const key in extension) {
    const name = key.replace(/^_/, '');
    if (!name.startsWith('value') || types.some((type) => name.slice(5) === capitalized(type))) continue;
    const allowed = types.map(withArticle).join(' or ');
    const fault = allowed === '' ? 'must be left out: it has extensions instead' : `must be ${allowed}`;
    walk.fault('extension', `${fault} (R4 defines ${url})`, 'value');
    break;
  }
  const { parts } = known;
  if (parts === undefined) return;
  for (const [index, item] of asArray(extension.extension).entries()) {
    if (!isObject(item) || typeof item.url !== 'string' || !Object.hasOwn(parts, item.url)) continue;
    const part = parts[item.url];
    if (part === undefined) continue;
    walk.enter('extension', index);
    checkValueTypes(item, `${url}, ${item.url}`, part, walk);
    walk.leave();
  }
}

function capitalized(type: string): string {
  return type.charAt(0).toUpperCase() + type.slice(1);
}
