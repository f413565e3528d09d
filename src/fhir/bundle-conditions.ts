/** Refuses conditions of Bundle entries that could not be kept: an entry must not be carried out without its condition. */
import { parseQuery } from '../shared/query-text.ts';
import { searchParameter } from './definitions/search-parameters.ts';
import type { ResourceType } from './types.ts';

/** The part of an entry that a condition is about. */
interface ConditionedEntry {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly type: ResourceType;
  readonly fullUrl?: string;
  readonly criteria?: string;
}

/** The conditions that entries of a method take (https://hl7.org/fhir/R4/bundle-definitions.html#Bundle.entry.request). */
const TAKEN: Readonly<Record<ConditionedEntry['method'], readonly string[]>> = {
  POST: ['ifNoneExist'],
  PUT: ['ifMatch'],
  PATCH: ['ifMatch'],
  DELETE: ['ifMatch'],
};

/** Returns the first condition of an entry that its method doesn't take. */
export function findUntaken(method: ConditionedEntry['method'], request: object): string | undefined {
  return ['ifNoneExist', 'ifMatch', 'ifNoneMatch', 'ifModifiedSince'].find(
    (name) => Object.hasOwn(request, name) && !TAKEN[method].includes(name),
  );
}

/**
 * Returns the `fullUrl` of another entry that the criteria of an entry contain as a reference. Criteria are searches of
 * stored resources, in which no reference to a `fullUrl` is found.
 * @param fullUrls those that don't outlive the Bundle
 */
export function findLink(
  { type, criteria }: Pick<ConditionedEntry, 'type' | 'criteria'>,
  fullUrls: ReadonlySet<string>,
): string | undefined {
  if (criteria === undefined || fullUrls.size === 0) return undefined;
  for (const [key, value] of parseQuery(criteria)) {
    const [code = ''] = key.split(':');
    if (searchParameter(type, code)?.type !== 'reference') continue;
    const link = value.split(',').find((one) => fullUrls.has(one));
    if (link !== undefined) return link;
  }
  return undefined;
}

/** Returns the fullUrls that stand for a resource only within the Bundle: those of new resources, and URNs. */
export function listOwnUrls(entries: readonly ConditionedEntry[]): ReadonlySet<string> {
  const own = entries.flatMap(({ fullUrl, method }) =>
    fullUrl !== undefined && (method === 'POST' || fullUrl.startsWith('urn:')) ? [fullUrl] : [],
  );
  return new Set(own);
}
