/** Searches for one code in the order of what is stored with codes: dates of a timeline, values of composites. */
import { tokenForm, valueKey } from '#src/fhir/search/keys.ts';
import { compiledParameter, compiledParameters } from '#src/fhir/search/paths.ts';
import { timelineOf } from '#src/fhir/search/timeline.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { searchKey } from '#src/shared/search-key.ts';
import type { OrderKey } from './order.ts';
import type { SearchScope } from './parameter.ts';
import type { ParsedSearch } from './parse.ts';
import { split, unescaped } from './raw.ts';

/**
 * The key under which the values that an order goes by stand with the code that all matches have, when there is one:
 * of the order's first key every match that has a value has one there.
 */
export function aboutOf(
  { type, tenant }: Pick<SearchScope, 'type' | 'tenant'>,
  order: readonly OrderKey[],
  used: ParsedSearch['used'],
): string | undefined {
  const by = order[0]?.by;
  const parameter = by === undefined ? undefined : codesWith(type, by);
  if (by === undefined || parameter === undefined) return undefined;
  const code = used
    .map(([key, text]) => codeIn(type, parameter, key, text))
    .find((found) => found !== undefined);
  const stored = compiledParameter(type, by)?.stored ?? [];
  if (code === undefined || stored.length !== 1) return undefined;
  return searchKey(valueKey(tenant, type, stored[0] ?? by, tokenForm.code(code)));
}

/** The token parameter whose codes the values of another are stored with, both of the resource itself. */
function codesWith(type: ResourceType, by: string): string | undefined {
  const timeline = timelineOf(type);
  if (by === timeline?.date) return timeline.code;
  return composites(type).find(([, value]) => value === by)?.[0];
}

/** The two parts of a type's composites whose values bear codes: of the resource, not of one of its elements. */
function composites(type: ResourceType): readonly (readonly [code: string, value: string, name: string])[] {
  return compiledParameters(type).flatMap(({ code: name, composite, paths }) =>
    composite?.ordered === true && paths.every(({ steps }) => steps.length === 0)
      ? [[composite.parts[0].code, composite.parts[1].code, name] as const]
      : [],
  );
}

/** The one code that a parameter asks for: by itself, or as the first part of a composite. */
function codeIn(type: ResourceType, parameter: string, key: string, text: string): string | undefined {
  const isPart = composites(type).some(([code, , name]) => name === key && code === parameter);
  if (key !== parameter && !isPart) return undefined;
  const [value, ...others] = split(text, ',').filter((each) => each !== '');
  if (value === undefined || others.length > 0) return undefined;
  const token = isPart ? (split(value, '$')[0] ?? '') : value;
  const code = unescaped(split(token, '|').at(-1) ?? '');
  return code === '' ? undefined : code;
}
