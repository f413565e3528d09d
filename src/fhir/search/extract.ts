/** Everything that searches find a resource by. */
import type { ResourceType } from '../types.ts';
import { PRESENT } from './keys.ts';
import { type CompiledParameter, compiledParameters, elementsAt, type Path } from './paths.ts';
import type { Period } from './period.ts';
import {
  logicalForms,
  periodOf,
  type QuantityValue,
  quantityOf,
  referenceForms,
  stringsOf,
  tokenForms,
  truthForms,
  uriForms,
} from './values.ts';

/** Code of a search parameter and a value of it. */
export interface Found<V> {
  readonly code: string;
  readonly value: V;
}

/** The values of all parameters of a resource. */
export interface SearchValues {
  /** Forms (`keys.ts`) of tokens, references and uris, and `PRESENT` of every parameter that has a value. */
  readonly forms: readonly Found<string>[];
  readonly strings: readonly Found<string>[];
  readonly periods: readonly Found<Period>[];
  readonly quantities: readonly Found<QuantityValue>[];
}

/** The suffix of a reference parameter's code under which the forms of logical identifiers stand. */
export const LOGICAL = ':identifier';

/**
 * Reads a resource.
 * @param resource its JSON, parsed; valid R4.
 */
export function extract(type: ResourceType, resource: unknown): SearchValues {
  const values = {
    forms: [] as Found<string>[],
    strings: [] as Found<string>[],
    periods: [] as Found<Period>[],
    quantities: [] as Found<QuantityValue>[],
  };
  for (const parameter of compiledParameters(type)) {
    const { code } = parameter;
    let present = false;
    for (const path of parameter.paths) {
      if (path.truth === true) continue;
      const elements = elementsAt(resource, path);
      present ||= elements.length > 0;
      for (const element of elements) add(values, parameter, path, element);
    }
    if (parameter.paths[0]?.truth === true) {
      const all = parameter.paths.flatMap((path) => elementsAt(resource, path));
      for (const value of truthForms(all)) values.forms.push({ code, value });
      present = true;
    }
    if (present) values.forms.push({ code, value: PRESENT });
  }
  return values;
}

function add(
  values: {
    readonly forms: Found<string>[];
    readonly strings: Found<string>[];
    readonly periods: Found<Period>[];
    readonly quantities: Found<QuantityValue>[];
  },
  { code, type }: CompiledParameter,
  path: Path,
  element: unknown,
): void {
  switch (type) {
    case 'token':
      for (const value of tokenForms(element, path)) values.forms.push({ code, value });
      break;
    case 'reference':
      for (const value of referenceForms(element)) values.forms.push({ code, value });
      for (const value of logicalForms(element)) values.forms.push({ code: code + LOGICAL, value });
      break;
    case 'uri':
      for (const value of uriForms(element)) values.forms.push({ code, value });
      // As texts for `:below`.
      if (typeof element === 'string') values.strings.push({ code, value: element });
      break;
    case 'string':
      for (const value of stringsOf(element, path)) values.strings.push({ code, value });
      break;
    case 'date': {
      const value = periodOf(element, path);
      if (value !== undefined) values.periods.push({ code, value });
      break;
    }
    case 'quantity': {
      const value = quantityOf(element, path);
      if (value !== undefined) values.quantities.push({ code, value });
      break;
    }
  }
}
