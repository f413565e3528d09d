/** Documents hold what they refer to: https://hl7.org/fhir/R4/documents.html#content */
import { isObject, type Json } from '#src/shared/json.ts';
import type { Issue } from '#src/shared/refusal.ts';
import { bundlePlaces, type Place, resolveReference } from './places.ts';

/** Elements of a Composition whose targets have to be in its document. */
const HELD = ['subject', 'encounter', 'author', 'attester', 'custodian', 'event', 'section'];

/**
 * References of a document that lead nowhere: those of its Composition, and every `urn:`, which nothing outside
 * resolves. Contained resources' too.
 * @returns no issue for what is no document.
 */
export function checkDocument({ resource, path }: Place): Issue[] {
  if (resource.resourceType !== 'Bundle' || resource.type !== 'document') return [];
  const issues: Issue[] = [];
  const { entries } = bundlePlaces(resource, path);
  for (const [index, place] of entries.entries()) {
    const composition = index === 0 && place.resource.resourceType === 'Composition';
    for (const [name, value] of Object.entries(place.resource)) {
      const held = composition && HELD.includes(name);
      walk(value, `${place.path}.${name}`, (reference, at) => {
        if (reference.startsWith('#') || (!held && !reference.startsWith('urn:'))) return;
        if (resolveReference(reference, place) !== undefined) return;
        const diagnostics = `${at} must refer to an entry of this document`;
        issues.push({ code: 'not-found', diagnostics, expression: at });
      });
    }
  }
  return issues;
}

function walk(value: Json, path: string, tell: (reference: string, path: string) => void): void {
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) walk(item, `${path}[${index}]`, tell);
  else if (isObject(value)) {
    if (typeof value.reference === 'string') tell(value.reference, `${path}.reference`);
    else for (const [name, inner] of Object.entries(value)) walk(inner, `${path}.${name}`, tell);
  }
}
