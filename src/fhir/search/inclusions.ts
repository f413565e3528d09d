/** Which search parameters `_include` and `_revinclude` follow: https://hl7.org/fhir/R4/search.html#include */
import { searchParameter } from '../definitions/search-parameters.ts';
import type { ResourceType } from '../types.ts';
import { compiledParameters } from './paths.ts';

/** Codes of a type's parameters that are literal references. Canonicals are none: nothing here resolves them. */
export function includable(type: ResourceType): readonly string[] {
  return compiledParameters(type)
    .filter((parameter) => parameter.type === 'reference')
    .filter(({ paths }) => paths.some((path) => path.type === 'Reference'))
    .map(({ code }) => code);
}

/** Whether a type's parameter may name another type. */
export function mayName(source: ResourceType, code: string, target: ResourceType): boolean {
  const targets = searchParameter(source, code)?.target ?? [];
  return targets.includes(target) || targets.includes('Resource');
}
