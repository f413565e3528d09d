/** R4's search parameters for the 26 types, from the generated table. */
import { readFileSync } from 'node:fs';
import type { ResourceType } from '../types.ts';

/** A search parameter of one type. */
export interface SearchParameter {
  /** The last part of the parameter's canonical URL `http://hl7.org/fhir/SearchParameter/<id>`. */
  readonly id: string;
  /** `token`, `reference`, `date`, `string`, `quantity`, `uri`, `number`, `composite` or `special`. */
  readonly type: string;
  /** FHIRPath, with only the operands that apply to this type. */
  readonly expression: string;
  /** For a reference: the types, among the 26, that the reference may name; `Resource` means any type. */
  readonly target?: readonly string[];
  /**
   * For a composite: its parts in order. Each part has a parameter's code and an expression relative to the composite's
   * expression.
   */
  readonly component?: readonly { readonly code: string; readonly expression: string }[];
}

/** Maps a type (or `Resource`, for parameters that every type has) to its parameters by code. */
export type SearchParameterTable = Record<string, Record<string, SearchParameter>>;

let table: SearchParameterTable | undefined;

/**
 * Returns a type's parameter by its code, including parameters that every type has (`_id`); undefined if R4 doesn't define it.
 */
export function searchParameter(type: ResourceType, code: string): SearchParameter | undefined {
  const parameters = readParameters(code.startsWith('_') ? 'Resource' : type);
  return Object.hasOwn(parameters, code) ? parameters[code] : undefined;
}

/** Returns the codes of all parameters that R4 defines for a type; parameters that every type has come first. */
export function searchParameterCodes(type: ResourceType): readonly string[] {
  return [...Object.keys(readParameters('Resource')), ...Object.keys(readParameters(type))];
}

function readParameters(scope: string): Record<string, SearchParameter> {
  table ??= JSON.parse(
    readFileSync(new URL('./generated/search-parameters.json', import.meta.url), 'utf8'),
  ) as SearchParameterTable;
  return table[scope] ?? {};
}
