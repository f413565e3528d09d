/**
 * Follows paths of names and positions without the FHIRPath engine. Most patches have only such paths, and the cost of
 * following them doesn't depend on the resource's size.
 */
import { isNumber, isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { type Location, objectAt, type Step } from './tree.ts';

/** Matches a path of names and positions: `Patient.name[0].family`. */
const PLAIN = /^[A-Za-z]\w*(?:\[\d{1,9}\])?(?:\.[A-Za-z]\w*(?:\[\d{1,9}\])?){0,100}$/;
/** Matches operators that are words. */
const WORDS = /(?:^|\.)(?:and|as|contains|div|false|implies|in|is|mod|or|true|xor)(?:$|[.[])/;

/** Returns whether a path consists only of names and positions. */
export function isPlain(path: string): boolean {
  const text = path.trim();
  return text.length <= 500 && PLAIN.test(text) && !WORDS.test(text);
}

/**
 * Follows a path whose names all occur in the JSON. A list is supported only with an index, or at the end of the path.
 * @returns undefined for other paths, and if something is missing; the engine then evaluates the path
 */
export function followPlain(resource: JsonObject, path: string): Location[] | undefined {
  const text = path.trim();
  if (!isPlain(text)) return undefined;
  const names = text.split('.');
  if (names[0] === resource.resourceType) names.shift();
  const location: Step[] = [];
  for (const [at, name] of names.entries()) {
    const [, key = '', digits] = /^(\w+)(?:\[(\d+)\])?$/.exec(name) ?? [];
    const parent = objectAt(resource, location);
    const value = parent === undefined || !Object.hasOwn(parent, key) ? undefined : parent[key];
    if (!Array.isArray(value)) {
      if (!isElement(value) || (digits !== undefined && digits !== '0')) return undefined;
      location.push({ key });
      continue;
    }
    // In FHIRPath, items without a value have no position.
    if (value.length === 0 || value.includes(null)) return undefined;
    if (digits !== undefined) {
      const index = Number(digits);
      if (!isElement(value[index])) return undefined;
      location.push({ key, index });
    } else if (at === names.length - 1 && value.every(isElement)) {
      return value.map((_, index) => [...location, { key, index }]);
    } else return undefined;
  }
  return [location];
}

function isElement(value: Json | undefined): boolean {
  if (value === null || value === undefined || Array.isArray(value)) return false;
  return isObject(value) || isNumber(value) || typeof value !== 'object';
}
