/** R4's search parameters of the 26 types, from the generated table. */
import { readFileSync } from 'node:fs';
import type { ResourceType } from '../types.ts';

/** One search parameter of one type. */
export interface SearchParameter {
  /** Last part of its canonical `http://hl7.org/fhir/SearchParameter/<id>`. */
  readonly id: string;
  /** `token`, `reference`, `date`, `string`, `quantity`, `uri`, `number`, `composite` or `special`. */
  readonly type: string;
  /** FHIRPath; only the operands that apply to this type. */
  readonly expression: string;
  /** For a reference: the types that it may name, among the 26; `Resource` means any. */
  readonly target?: readonly string[];
  /**
   * For a composite: its parts in order, each with a parameter's code and an expression relative to the composite's.
   */
  readonly component?: readonly { readonly code: string; readonly expression: string }[];
}

/** Type (or `Resource`, for parameters of every type) → code → parameter. */
export type SearchParameterTable = Record<string, Record<string, SearchParameter>>;

let table: SearchParameterTable | undefined;

/**
 * Returns a type's parameter by its code, including those of every type (`_id`); undefined if R4 does not define it.
 */
export function searchParameter(type: ResourceType, code: string): SearchParameter | undefined {
  const parameters = readParameters(code.startsWith('_') ? 'Resource' : type);
  return Object.hasOwn(parameters, code) ? parameters[code] : undefined;
}

/** Returns the codes of all parameters that R4 defines for a type; those of every type come first. */
export function searchParameterCodes(type: ResourceType): readonly string[] {
  return [...Object.keys(readParameters('Resource')), ...Object.keys(readParameters(type))];
}

function readParameters(scope: string): Record<string, SearchParameter> {
  table ??= JSON.parse(
    readFileSync(new URL('./generated/search-parameters.json', import.meta.url), 'utf8'),
  ) as SearchParameterTable;
  return table[scope] ?? {};
}
