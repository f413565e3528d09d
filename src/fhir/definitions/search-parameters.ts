/** R4's search parameters of the 26 types, from the generated table. */
import { readFileSync } from 'node:fs';
import type { ResourceType } from '../types.ts';

/** One search parameter of one type. */
export interface SearchParameter {
  /** Last part of its canonical `http://hl7.org/fhir/SearchParameter/<id>`. */
  readonly id: string;
  /** `token`, `reference`, `date`, `string`, `quantity`, `uri`, `number`, `composite` or `special`. */
  readonly type: string;
  /** FHIRPath, only the operands about this type. */
  readonly expression: string;
  /** Of a reference: types that it may name, of the 26; `Resource` stands for any. */
  readonly target?: readonly string[];
  /** Of a composite: its parts in order, each a parameter's code and its expression relative to this one's. */
  readonly component?: readonly { readonly code: string; readonly expression: string }[];
}

/** Type (or `Resource`, for those of every type) → code → parameter. */
export type SearchParameterTable = Record<string, Record<string, SearchParameter>>;

let table: SearchParameterTable | undefined;

/** The parameter that a type has under a code, one of every type's (`_id`) included; undefined when R4 has none. */
export function searchParameter(type: ResourceType, code: string): SearchParameter | undefined {
  const parameters = parametersOf(code.startsWith('_') ? 'Resource' : type);
  return Object.hasOwn(parameters, code) ? parameters[code] : undefined;
}

/** Codes of all parameters that a type has in R4, those of every type first. */
export function searchParameterCodes(type: ResourceType): readonly string[] {
  return [...Object.keys(parametersOf('Resource')), ...Object.keys(parametersOf(type))];
}

function parametersOf(scope: string): Record<string, SearchParameter> {
  table ??= JSON.parse(
    readFileSync(new URL('./generated/search-parameters.json', import.meta.url), 'utf8'),
  ) as SearchParameterTable;
  return table[scope] ?? {};
}
