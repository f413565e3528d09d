/**
 * Searches for a single code, sorted by values that are stored with their code: the dates of a timeline, or the values of
 * composites.
 */
import { searchKey, systemKey, tokenForm, valueKey } from '#src/fhir/search/keys.ts';
import { compiledParameter, compiledParameters } from '#src/fhir/search/paths.ts';
import { findTimeline } from '#src/fhir/search/timeline.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { OrderKey } from '../order.ts';
import type { ParsedSearch } from '../parse.ts';
import { formKeys } from '../predicates/conditions.ts';
import type { SearchScope } from '../predicates/parameter.ts';
import { split, unescaped } from '../raw.ts';

/** The code that all matches share, for sorting by the values that are stored with this code. */
export interface About {
  /** The key in the values' `about` column. */
  readonly key: string;
  /** The key in the values' `about_system` column, if the search names the code's system. */
  readonly system?: string;
  /** The search key that a resource has if, and only if, it has such a value. */
  readonly token?: string;
}

/**
 * Returns the code that all matches share, if there is one and the values of the first sort key are stored with it. In that
 * case, every match that has a value for the sort key has one stored with this code.
 */
export function findAbout(
  { type, tenant }: Pick<SearchScope, 'type' | 'tenant'>,
  order: readonly OrderKey[],
  used: ParsedSearch['used'],
): About | undefined {
  const by = order[0]?.by;
  const parameter = by === undefined ? undefined : codesWith(type, by);
  if (by === undefined || parameter === undefined) return undefined;
  const found = used
    .map(([key, text]) => codeIn(type, parameter, key, text))
    .find((each) => each !== undefined);
  const stored = compiledParameter(type, by)?.stored ?? [];
  if (found === undefined || stored.length !== 1) return undefined;
  const { code, system, isPart } = found;
  const key = searchKey(valueKey(tenant, type, stored[0] ?? by, tokenForm.code(code)));
  const codes = isPart || by !== findTimeline(type)?.date ? undefined : compiledParameter(type, parameter);
  if (codes === undefined) return { key };
  const form = system === undefined ? tokenForm.code(code) : tokenForm.pair(system, code);
  const [token, ...more] = formKeys(codes, [form], { tenant, type });
  if (token === undefined || more.length > 0) return { key };
  return { key, token, ...(system === undefined ? {} : { system: searchKey(systemKey(system)) }) };
}

/**
 * Returns the token parameter whose codes are stored with the given parameter's values; both must read elements of the
 * resource itself.
 */
function codesWith(type: ResourceType, by: string): string | undefined {
  const timeline = findTimeline(type);
  if (by === timeline?.date) return timeline.code;
  return composites(type).find(([, value]) => value === by)?.[0];
}

type AboutName = readonly [code: string, value: string, name: string];

const known = new Map<ResourceType, readonly AboutName[]>();

/**
 * Returns a type's composites whose two parts, a code and its value, are elements of the resource itself rather than of one of
 * its elements.
 */
function composites(type: ResourceType): readonly AboutName[] {
  const before = known.get(type);
  if (before !== undefined) return before;
  const found = compiledParameters(type).flatMap(({ code: name, composite, paths }): AboutName[] =>
    composite?.ordered === true && paths.every(({ steps }) => steps.length === 0)
      ? [[composite.parts[0].code, composite.parts[1].code, name]]
      : [],
  );
  known.set(type, found);
  return found;
}

/** A requested code; if the search names no system, the code matches in any system. */
interface AskedCode {
  readonly code: string;
  readonly system: string | undefined;
  /** True if the code is the first part of a composite. */
  readonly isPart: boolean;
}

/** Returns the single code that a parameter requests, either directly or as the first part of a composite. */
function codeIn(type: ResourceType, parameter: string, key: string, text: string): AskedCode | undefined {
  const isPart = composites(type).some(([code, , name]) => name === key && code === parameter);
  if (key !== parameter && !isPart) return undefined;
  const [value, ...others] = split(text, ',').filter((each) => each !== '');
  if (value === undefined || others.length > 0) return undefined;
  const token = isPart ? (split(value, '$')[0] ?? '') : value;
  const [code = '', system] = split(token, '|').map(unescaped).reverse();
  return code === '' ? undefined : { code, system, isPart };
}
