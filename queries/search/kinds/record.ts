/**
 * `patient` and `subject`: the record that a resource is in. https://hl7.org/fhir/R4/search.html#reference
 */
import { typeEntry } from '#src/fhir/types.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { SearchParameter, SearchScope } from '../parameter.ts';
import { badParameter, type RawParameter, refuseModifier, unescaped } from '../raw.ts';
import { inRecordsPredicate } from '../records.ts';

/** `patient`: the Patient whose record contains the resource. */
export const patientParameter: SearchParameter = record('patient', ['subject', 'patient']);

/**
 * `subject`, for types with that element: writes refuse subjects other than Patients, so it equals `patient`.
 */
export const subjectParameter: SearchParameter = record('subject', ['subject']);

function record(name: string, owners: readonly string[]): SearchParameter {
  return {
    name,
    appliesTo: (type) => owners.includes(typeEntry(type).owner ?? ''),
    predicate(parameter, scope) {
      refuseModifier(parameter, ['Patient']);
      const ids = parameter.values.map((value) => parseReference(parameter, value, scope)).filter(isPatient);
      return inRecordsPredicate(
        ids.map(({ id }) => id),
        scope,
      );
    },
  };
}

function isPatient(reference: { type?: string; id: string }): boolean {
  return (reference.type === undefined || reference.type === 'Patient') && isUuid(reference.id);
}

const REFERENCE = /^(?:([A-Z][A-Za-z]{1,63})\/)?([A-Za-z0-9.-]{1,64})$/;

/**
 * Parses a reference in a search: `id`, `Type/id`, or either under our base.
 * @throws Refusal `malformed` for an invalid reference; other URLs match nothing
 */
export function parseReference(
  parameter: RawParameter,
  value: string,
  scope: Pick<SearchScope, 'base'>,
): { type?: string; id: string } {
  const text = unescaped(value);
  const relative = text.startsWith(scope.base) ? text.slice(scope.base.length) : text;
  const [, type, id] = REFERENCE.exec(relative) ?? [];
  if (id !== undefined) return type === undefined ? { id } : { type, id };
  if (/^(?:https?|urn):/.test(text)) return { type: 'elsewhere', id: text };
  throw badParameter(parameter.name, 'the value is not a reference such as Patient/<id>');
}
