/** The table of search parameters. A new kind is a file in `kinds/` and a line here. */
import type { ResourceType } from '#src/fhir/types.ts';
import { compiledSearchParameter } from './kinds/compiled.ts';
import { idParameter } from './kinds/id.ts';
import { identifierParameter } from './kinds/identifier.ts';
import { lastUpdatedParameter } from './kinds/last-updated.ts';
import { patientParameter, subjectParameter } from './kinds/record.ts';
import type { SearchParameter } from './parameter.ts';
import type { RawParameter } from './raw.ts';

const PARAMETERS: readonly SearchParameter[] = [
  idParameter,
  lastUpdatedParameter,
  identifierParameter,
  patientParameter,
  subjectParameter,
];

/**
 * The parameter of a name, if the type has it. Those of the table know more than what a resource says; with the
 * modifiers that they leave to others they are like any. Provenance is searched by `queries/provenance/search.ts`.
 */
export function parameterOf(
  type: ResourceType,
  { name, modifier }: Pick<RawParameter, 'name' | 'modifier'>,
): SearchParameter | undefined {
  const own = PARAMETERS.find((parameter) => parameter.name === name && parameter.appliesTo(type));
  const compiled = compiledSearchParameter(type, name);
  if (own === undefined || compiled === undefined) return own ?? compiled;
  return modifier === undefined || modifier === 'Patient' ? own : compiled;
}
