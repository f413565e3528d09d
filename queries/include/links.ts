/**
 * Finds the resources to which an inclusion leads, using the references in bodies and the keys of resources that refer to
 * others.
 */
import { mayName } from '#src/fhir/search/inclusions.ts';
import { referenceForm, searchKey, valueKey } from '#src/fhir/search/keys.ts';
import { compiledParameter, elementsAt } from '#src/fhir/search/paths.ts';
import { isResourceType, type ResourceType } from '#src/fhir/types.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { CurrentResource } from '../read.ts';
import type { Inclusion } from './inclusions.ts';

/** A literal reference to something that can be stored in this service; `version` is set if the reference names one. */
export interface Link {
  readonly type: ResourceType;
  readonly id: string;
  readonly version?: number;
}

/** Returns a resource's references for the parameters of the inclusions, in the order of its elements. */
export function findLinks(
  { type, body }: Pick<CurrentResource, 'type' | 'body'>,
  inclusions: readonly Inclusion[],
  base: string,
): Link[] {
  const followed = inclusions.filter(({ reverse, sources }) => !reverse && sources.has(type));
  if (followed.length === 0 || body === null) return [];
  const resource: unknown = JSON.parse(body);
  const links: Link[] = [];
  for (const { sources, target } of followed) {
    for (const code of sources.get(type) ?? []) {
      for (const path of compiledParameter(type, code)?.paths ?? []) {
        for (const element of elementsAt(resource, path)) {
          const link = readLink(element, base);
          if (link !== undefined && (target === undefined || link.type === target)) links.push(link);
        }
      }
    }
  }
  return links;
}

const LITERAL = /^([A-Za-z]+)\/([A-Za-z0-9.-]{1,64})(?:\/_history\/([1-9]\d{0,8}))?$/;

/** Canonicals, identifiers, contained resources and URLs on other servers lead nowhere. */
function readLink(element: unknown, base: string): Link | undefined {
  const { reference } = element as { readonly reference?: unknown };
  if (typeof reference !== 'string') return undefined;
  const relative = reference.startsWith(base) ? reference.slice(base.length) : reference;
  const [, type, id, version] = LITERAL.exec(relative) ?? [];
  if (id === undefined || !isResourceType(type) || !isUuid(id)) return undefined;
  return version === undefined ? { type, id } : { type, id, version: Number(version) };
}

/**
 * Returns the keys in the read model `search` that belong to resources referring to the given resources through the parameters
 * of reverse inclusions.
 * @param base the base URL of absolute references
 */
export function keysOfReferrers(
  resources: readonly Pick<CurrentResource, 'type' | 'id'>[],
  inclusions: readonly Inclusion[],
  { tenant, base }: { tenant: string; base: string },
): string[] {
  const keys = new Set<string>();
  for (const [source, code, target] of followedBack(inclusions)) {
    const stored = compiledParameter(source, code)?.stored ?? [];
    for (const { type, id } of resources) {
      if ((target !== undefined && target !== type) || !mayName(source, code, type)) continue;
      const forms = [referenceForm.relative(`${type}/${id}`), referenceForm.url(`${base}${type}/${id}`)];
      for (const form of forms)
        for (const under of stored) keys.add(searchKey(valueKey(tenant, source, under, form)));
    }
  }
  return [...keys];
}

/** Returns each parameter of each type that reverse inclusions follow, with the target type. */
export function followedBack(
  inclusions: readonly Inclusion[],
): [source: ResourceType, code: string, target: string | undefined][] {
  return inclusions
    .filter(({ reverse }) => reverse)
    .flatMap(({ sources, target }) =>
      [...sources].flatMap(([source, codes]) =>
        codes.map((code): [ResourceType, string, string | undefined] => [source, code, target]),
      ),
    );
}
