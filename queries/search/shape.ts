/** `_summary` and `_elements`: https://hl7.org/fhir/R4/search.html#summary. They apply to reads as well. */

import { elementNamed, elementNames, type Subset } from '#src/fhir/summary.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { cut } from '#src/shared/cut.ts';
import { didYouMean } from '#src/shared/nearest.ts';
import { badParameter } from './raw.ts';

const FORMS = ['true', 'text', 'data', 'count', 'false'] as const;

/** The parts of resources that a request selects; `onlyTotal` for `_summary=count`. */
export interface Shape {
  /** Undefined: everything. */
  readonly subset: Subset | undefined;
  readonly onlyTotal: boolean;
}

/**
 * Parses `_summary` and `_elements`.
 * @param types the types of resources in the result; an element must exist in at least one of them.
 * @throws Refusal malformed (400) for an invalid value, an unknown element, and for using both parameters.
 */
export function parseShape(query: URLSearchParams, types: readonly ResourceType[]): Shape {
  for (const key of query.keys()) {
    if (/^(?:_summary|_elements):/.test(key)) throw badParameter(key, 'it takes no modifier');
  }
  const forms = new Set(query.getAll('_summary').filter((text) => text !== ''));
  const [form, ...others] = forms;
  if (others.length > 0 || (form !== undefined && !FORMS.some((each) => each === form)))
    throw badParameter('_summary', `the value must be one of ${FORMS.join(', ')}`);
  const elements = parseElements(query, types);
  const summary = form === 'true' || form === 'text' || form === 'data' ? form : undefined;
  if (summary !== undefined && elements !== undefined)
    throw badParameter('_elements', 'it cannot be used together with _summary');
  return { subset: summary ?? elements, onlyTotal: form === 'count' };
}

function parseElements(
  query: URLSearchParams,
  types: readonly ResourceType[],
): ReadonlySet<string> | undefined {
  const names = query
    .getAll('_elements')
    .flatMap((text) => text.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) return undefined;
  return new Set(names.flatMap((name) => findElements(name, types)));
}

/** `name`, or with its type `Patient.name`. */
function findElements(name: string, types: readonly ResourceType[]): string[] {
  const known = types.flatMap((type) => {
    const own = name.startsWith(`${type}.`) ? name.slice(type.length + 1) : name;
    return elementNamed(type, own) ?? [];
  });
  if (known.length > 0) return known;
  throw badParameter(
    '_elements',
    `${cut(name, 64)} is not a top-level element of ${types.length === 1 ? types[0] : 'these types'}${didYouMean(name.split('.').at(-1) ?? '', types.flatMap(elementNames))}`,
  );
}
