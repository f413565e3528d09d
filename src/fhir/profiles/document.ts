/**
 * What documents have to hold: https://hl7.org/fhir/R4/documents.html#content, and how their entries are named:
 * https://hl7.org/fhir/R4/bundle.html#bundle-unique
 */
import { isObject, type Json } from '#src/shared/json.ts';
import type { Issue } from '#src/shared/refusal.ts';
import { bundlePlaces, type Place, resolveReference } from './places.ts';

/** Elements of a Composition whose targets have to be in its document. */
const HELD = ['subject', 'encounter', 'author', 'attester', 'custodian', 'event', 'section'];

/**
 * References of a document that lead nowhere: faults are those of its Composition, and every `urn:`, which nothing
 * outside resolves; of other relative ones it is told. And entries whose fullUrl names another resource.
 * @returns no issue for what is no document.
 */
export function checkDocument({ resource, path }: Place): Issue[] {
  if (resource.resourceType !== 'Bundle' || resource.type !== 'document') return [];
  const issues: Issue[] = [];
  const { entries } = bundlePlaces(resource, path);
  for (const [index, place] of entries.entries()) {
    issues.push(...misnamed(place));
    const composition = index === 0 && place.resource.resourceType === 'Composition';
    for (const [name, value] of Object.entries(place.resource)) {
      const held = composition && HELD.includes(name);
      walk(value, `${place.path}.${name}`, (reference, at) => {
        if (reference.startsWith('#') || resolveReference(reference, place) !== undefined) return;
        const fault = held || reference.startsWith('urn:');
        if (!fault && reference.includes(':')) return;
        const diagnostics = `${at} ${fault ? 'must' : 'should'} refer to an entry of this document`;
        issues.push({
          ...(fault ? {} : { severity: 'warning' as const }),
          code: 'not-found',
          diagnostics,
          expression: at,
        });
      });
    }
  }
  return issues;
}

const RESTFUL = /^https?:\/\/.*\/([A-Z][A-Za-z]+)\/([A-Za-z0-9\-.]{1,64})$/;

function misnamed({ resource, fullUrl = '', path }: Place): Issue[] {
  const [, type, id] = RESTFUL.exec(fullUrl) ?? [];
  if (type === undefined || resource.id === undefined) return [];
  if (type === resource.resourceType && id === resource.id) return [];
  const expression = path.replace(/\.resource$/, '.fullUrl');
  return [
    { code: 'value', diagnostics: `${expression} must end with the type and id of its resource`, expression },
  ];
}

function walk(value: Json, path: string, tell: (reference: string, path: string) => void): void {
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) walk(item, `${path}[${index}]`, tell);
  else if (isObject(value)) {
    if (typeof value.reference === 'string') tell(value.reference, `${path}.reference`);
    else for (const [name, inner] of Object.entries(value)) walk(inner, `${path}.${name}`, tell);
  }
}
