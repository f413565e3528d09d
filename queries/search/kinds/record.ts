/** `patient` and `subject`: the record that contains a resource. https://hl7.org/fhir/R4/search.html#reference */
import { recordKey, searchKey } from '#src/fhir/search/keys.ts';
import { typeEntry } from '#src/fhir/types.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { Binds } from '../../database/binds.ts';
import { ofTenant } from '../predicates/conditions.ts';
import type { SearchParameter, SearchScope } from '../predicates/parameter.ts';
import type { Predicate } from '../predicates/predicate.ts';
import { badParameter, type RawParameter, refuseModifier, unescaped } from '../raw.ts';

/** `patient`: the Patient whose record contains the resource. */
export const patientParameter: SearchParameter = record('patient', ['subject', 'patient']);

/**
 * `subject`, for types with that element: it means the same as `patient`, because writes with subjects other than Patients are
 * refused.
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

const VERSION = /^[A-Z][A-Za-z]{1,63}\/[A-Za-z0-9.-]{1,64}\/_history\//;
const REFERENCE = /^(?:([A-Z][A-Za-z]{1,63})\/)?([A-Za-z0-9.-]{1,64})$/;

/**
 * Parses a reference in a search: `id`, `Type/id`, or either below our base URL.
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
  if (VERSION.test(relative))
    throw badParameter(
      parameter.name,
      'versions cannot be searched here; leave out `/_history/` and what follows it',
    );
  if (/^(?:https?|urn):/.test(text)) return { type: 'elsewhere', id: text };
  throw badParameter(parameter.name, 'the value is not a reference such as Patient/<id>');
}

/** From this number of records on, a walk along the result's order is expected to find the next match soon. */
const MANY_RECORDS = 32;

/**
 * Matches resources of the scope's type in one of the records. Index resources.resource_of_record, keys in search.entry_keys.
 */
export function inRecordsPredicate(
  ids: readonly string[],
  { tenant, type }: Pick<SearchScope, 'tenant' | 'type'>,
): Predicate {
  const [first, ...others] = ids;
  // For a single record, the index returns the rows in id order.
  const condition = (binds: Binds) =>
    first !== undefined && others.length === 0
      ? `r.record = ${binds.add(first, 'uuid')}`
      : `r.record = any(${binds.add(ids, 'uuid[]')})`;
  const known = {
    ofEntry: true,
    implied: () => ids.map((id) => searchKey(recordKey(id))),
    inRecords: ids,
    narrowed: (some: readonly string[]) => inRecordsPredicate(some, { tenant, type }),
  };
  if (ids.length < MANY_RECORDS) return Object.assign(condition, { ...known, keyed: true });
  const rows = rowsInRecords(ids, { tenant, type });
  return Object.assign(condition, { ...known, rows, wide: true as const });
}

/**
 * Returns a query with the columns `id` and `record` for the live resources of a type in some records, one record after the
 * other.
 */
export function rowsInRecords(
  ids: readonly string[],
  scope: Pick<SearchScope, 'tenant' | 'type'>,
): (binds: Binds) => string {
  return (binds) => `select o.id, o.record from unnest(${binds.add(ids, 'uuid[]')}) i(id)
    cross join lateral (${inOneRecord('i.id', scope, binds)}) o`;
}

/**
 * Returns a query with the columns `id` and `record` for the live resources of a type in one record.
 * @param record SQL for the record's id
 */
export function inOneRecord(
  record: string,
  { tenant, type }: Pick<SearchScope, 'tenant' | 'type'>,
  binds: Binds,
): string {
  return `select r.id, r.record from resources.resource r
    where r.record = ${record} and ${ofTenant(tenant, true, binds)} and r.type = ${binds.add(type, 'text')}
      and not r.deleted offset 0`;
}
