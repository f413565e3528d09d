/** Lists the search parameters that `_include` and `_revinclude` follow: https://hl7.org/fhir/R4/search.html#include */
import { searchParameter } from '../definitions/search-parameters.ts';
import { type ResourceType, TYPE_NAMES } from '../types.ts';
import { compiledParameters } from './paths.ts';

/**
 * Returns the codes of a type's parameters whose values are literal references. Canonicals are excluded, because the service
 * doesn't resolve them.
 */
export function includable(type: ResourceType): readonly string[] {
  return compiledParameters(type)
    .filter((parameter) => parameter.type === 'reference')
    .filter(({ paths }) => paths.some((path) => path.type === 'Reference'))
    .map(({ code }) => code);
}

/** Returns whether a type's parameter may refer to another type. */
export function mayName(source: ResourceType, code: string, target: ResourceType): boolean {
  const targets = searchParameter(source, code)?.target ?? [];
  return targets.includes(target) || targets.includes('Resource');
}

/** Returns whether a type's parameter may refer to resources of every type. */
export function leadsAnywhere(source: ResourceType, code: string): boolean {
  const targets = searchParameter(source, code)?.target ?? [];
  return targets.includes('Resource') || TYPE_NAMES.every((type) => targets.includes(type));
}
