/** Determines which searches the read model `resources` can answer by itself, so that they don't wait for `search`. */
import type { ResourceType } from '#src/fhir/types.ts';
import { CURSOR } from '../cursor.ts';
import { patientParameter, subjectParameter } from './kinds/record.ts';
import { findParameter } from './parameters.ts';
import { parseRaw, type RawParameter } from './raw.ts';

/** Parameters on columns that every resource has, and parameters that only shape the result. */
const OF_ROW = new Set(['_id', '_lastUpdated', '_count', '_total', '_summary', '_format', '_pretty', CURSOR]);
/** The sort keys that are columns of a row. */
const SORTS = new Set(['_id', '_lastUpdated']);

/**
 * Returns true if a type's search uses only ids, recording times and records.
 * @throws Refusal as `parseRaw`
 */
export function isOfResources(type: ResourceType, query: URLSearchParams): boolean {
  return parseRaw(query).every((parameter) => isOfRow(parameter) || isRecord(type, parameter));
}

function isOfRow({ name, modifier, values }: RawParameter): boolean {
  if (modifier !== undefined) return name === '_id' && (modifier === 'not' || modifier === 'missing');
  return (
    OF_ROW.has(name) || (name === '_sort' && values.every((value) => SORTS.has(value.replace(/^-/, ''))))
  );
}

/** A resource's row names its record. */
function isRecord(type: ResourceType, parameter: RawParameter): boolean {
  const { name, modifier } = parameter;
  if (name !== 'patient' && name !== 'subject') return false;
  const known = findParameter(type, parameter);
  return (
    (modifier === undefined || modifier === 'Patient') &&
    (known === patientParameter || known === subjectParameter)
  );
}
