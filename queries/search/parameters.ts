/** The table of search parameters. A new kind is a file in `kinds/` and a line here. */
import type { ResourceType } from '#src/fhir/types.ts';
import { idParameter } from './kinds/id.ts';
import { identifierParameter } from './kinds/identifier.ts';
import { lastUpdatedParameter } from './kinds/last-updated.ts';
import { patientParameter, subjectParameter } from './kinds/record.ts';
import type { SearchParameter } from './parameter.ts';

const PARAMETERS: readonly SearchParameter[] = [
  idParameter,
  lastUpdatedParameter,
  identifierParameter,
  patientParameter,
  subjectParameter,
];

/** The parameter of that name, if the type has it. Provenance is searched by `queries/provenance/search.ts`. */
export function parameterOf(type: ResourceType, name: string): SearchParameter | undefined {
  return PARAMETERS.find((parameter) => parameter.name === name && parameter.appliesTo(type));
}

/** The names of a type's search parameters. */
export function parameterNames(type: ResourceType): string[] {
  return PARAMETERS.filter((parameter) => parameter.appliesTo(type)).map(({ name }) => name);
}
