/**
 * Refuses conditions on Bundle entries that can't be enforced, because an entry must not be carried out without its condition.
 */
import { parseQuery } from '../shared/query-text.ts';
import { searchParameter } from './definitions/search-parameters.ts';
import type { ResourceType } from './types.ts';

/** The properties of an entry that its conditions depend on. */
interface ConditionedEntry {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly type: ResourceType;
  readonly fullUrl?: string;
  readonly criteria?: string;
}

/** The conditions that each method supports (https://hl7.org/fhir/R4/bundle-definitions.html#Bundle.entry.request). */
const TAKEN: Readonly<Record<ConditionedEntry['method'], readonly string[]>> = {
  POST: ['ifNoneExist'],
  PUT: ['ifMatch'],
  PATCH: ['ifMatch'],
  DELETE: ['ifMatch'],
};

/** Returns the first condition of an entry that its method doesn't support. */
export function findUntaken(method: ConditionedEntry['method'], request: object): string | undefined {
  return ['ifNoneExist', 'ifMatch', 'ifNoneMatch', 'ifModifiedSince'].find(
    (name) => Object.hasOwn(request, name) && !TAKEN[method].includes(name),
  );
}

/**
 * Returns the `fullUrl` of another entry, if the criteria of an entry contain it as a reference. Criteria search stored
 * resources, which never refer to a `fullUrl`.
 * @param fullUrls the `fullUrl`s that are valid only within the Bundle
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

/** Returns the fullUrls that identify a resource only within the Bundle: URNs, and the fullUrls of new resources. */
export function listOwnUrls(entries: readonly ConditionedEntry[]): ReadonlySet<string> {
  const own = entries.flatMap(({ fullUrl, method }) =>
    fullUrl !== undefined && (method === 'POST' || fullUrl.startsWith('urn:')) ? [fullUrl] : [],
  );
  return new Set(own);
}
