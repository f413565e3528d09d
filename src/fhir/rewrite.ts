/**
 * Replaces references in a resource, in the same way as a transaction replaces its entries' URLs
 * (https://hl7.org/fhir/R4/http.html#trules; docs/spec/decisions.md, section 5 "Bundles").
 */
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { isR4ResourceType, jsonName, PRIMITIVES, typeDefinition } from './definitions/tables.ts';

/** Returns the replacement for a text, or undefined to leave the text unchanged. */
export type Replacement = (text: string) => string | undefined;

/**
 * Replaces whole values of `Reference.reference` and of uri, url, oid and uuid elements (never canonicals), and links in
 * narratives, including those in contained resources.
 * @returns a copy that shares its unchanged parts, or the resource itself if nothing changed.
 */
export function rewriteReferences(resource: JsonObject, type: string, replacement: Replacement): JsonObject {
  return rewriteObject(resource, type, replacement);
}

const REWRITTEN: ReadonlySet<string> = new Set(['uri', 'url', 'oid', 'uuid']);

/** Maps JSON names to types; lists only elements in which something may be replaced. */
type Plan = ReadonlyMap<string, string>;

const plans = new Map<string, Plan>();

function makePlan(type: string): Plan {
  const known = plans.get(type);
  if (known !== undefined) return known;
  const plan = new Map<string, string>();
  for (const element of typeDefinition(type).elements) {
    for (const { code } of element.types) {
      const key = jsonName(element, code);
      const reference = type === 'Reference' && key === 'reference';
      if (!PRIMITIVES.has(code) || REWRITTEN.has(code) || code === 'xhtml') plan.set(key, code);
      else if (reference) plan.set(key, 'uri');
      if (PRIMITIVES.has(code)) plan.set(`_${key}`, 'Element');
    }
  }
  plans.set(type, plan);
  return plan;
}

function rewriteObject(object: JsonObject, type: string, replacement: Replacement): JsonObject {
  const plan = makePlan(type);
  let copy: JsonObject | undefined;
  for (const key in object) {
    const behind = plan.get(key);
    const value = object[key];
    if (behind === undefined || value === undefined) continue;
    const rewritten = rewriteValue(value, behind, replacement);
    if (rewritten !== value) {
      copy ??= { ...object };
      copy[key] = rewritten;
    }
  }
  return copy ?? object;
}

function rewriteValue(value: Json, type: string, replacement: Replacement): Json {
  if (Array.isArray(value)) {
    const items = value.map((item) => rewriteValue(item, type, replacement));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (typeof value === 'string') {
    if (type === 'xhtml') return rewriteLinks(value, replacement);
    return PRIMITIVES.has(type) ? (replacement(value) ?? value) : value;
  }
  if (!isObject(value) || PRIMITIVES.has(type)) return value;
  if (type !== 'Resource') return rewriteObject(value, type, replacement);
  const named = value.resourceType;
  return typeof named === 'string' && isR4ResourceType(named)
    ? rewriteObject(value, named, replacement)
    : value;
}

function rewriteLinks(div: string, replacement: Replacement): string {
  return div.replace(/(\s(?:href|src)\s*=\s*)("[^"]*"|'[^']*')/g, (whole, before: string, quoted: string) => {
    const quote = quoted.charAt(0);
    const link = replacement(quoted.slice(1, -1).replaceAll('&amp;', '&'));
    return link === undefined ? whole : before + quote + link.replaceAll('&', '&amp;') + quote;
  });
}
