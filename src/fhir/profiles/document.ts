/**
 * Checks the rules for documents (https://hl7.org/fhir/R4/documents.html#content), and the names of a document's entries:
 * https://hl7.org/fhir/R4/bundle.html#bundle-unique
 */
import type { Issue } from '#src/shared/issue.ts';
import { bundlePlaces, type Place, resolveReference } from './places.ts';

/** Elements of a Composition whose targets must be in the Composition's document. */
const HELD = ['subject', 'encounter', 'author', 'attester', 'custodian', 'event', 'section'];

/** A literal reference in a resource: the Reference's FHIRPath, and its text. */
export interface FoundReference {
  readonly path: string;
  readonly reference: string;
}

const ENTRY = /^Bundle\.entry\[(\d+)\]\.resource(?:\.(\w+))?/;

/**
 * Checks a document's references. A reference that can't be resolved is an error if it is a `urn:` or in certain elements of
 * the document's Composition; other unresolved relative references are reported as warnings. Each entry's fullUrl must match
 * its resource.
 * @param references all references, in order
 * @returns no issues if the resource isn't a document
 */
export function checkDocument({ resource, path }: Place, references: readonly FoundReference[]): Issue[] {
  if (resource.resourceType !== 'Bundle' || resource.type !== 'document') return [];
  const places = new Map(bundlePlaces(resource, path).entries.map((place) => [place.path, place]));
  const issues = [...places.values()].flatMap(misnamed);
  for (const { path: at, reference } of references) {
    const [, entry, element = ''] = ENTRY.exec(at) ?? [];
    const place = places.get(`Bundle.entry[${entry}].resource`);
    if (place === undefined || reference.startsWith('#') || resolveReference(reference, place) !== undefined)
      continue;
    const held = entry === '0' && place.resource.resourceType === 'Composition' && HELD.includes(element);
    const fault = held || reference.startsWith('urn:');
    if (!fault && reference.includes(':')) continue;
    const expression = `${at}.reference`;
    const diagnostics = `${expression} ${fault ? 'must' : 'should'} refer to an entry of this document`;
    const severity = fault ? 'error' : 'warning';
    issues.push({ severity, code: 'not-found', diagnostics, expression });
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
