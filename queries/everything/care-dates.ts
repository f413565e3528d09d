/**
 * `start` and `end` of `$everything`: selects the resources about care in that period. R4 only says "care dates"; Annal uses
 * the dates of the clinical search parameters. Resources without such a date are always included.
 */
import { parameterKey, searchKey } from '#src/fhir/search/keys.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** Search parameters for dates of care, by type. */
export const CARE_DATES: Partial<Record<ResourceType, readonly string[]>> = {
  Observation: ['date'],
  MedicationStatement: ['effective'],
  MedicationRequest: ['authoredon', 'date'],
  Immunization: ['date'],
  Procedure: ['date'],
  Encounter: ['date'],
  DiagnosticReport: ['date'],
  Specimen: ['collected'],
  DocumentReference: ['date', 'period'],
  CarePlan: ['date'],
  CareTeam: ['date'],
  Provenance: ['recorded'],
};

/** Facts that last: from one of the `begin` dates to one of the `end` dates or, without an end date, to today. */
export const LASTING: Partial<
  Record<ResourceType, { readonly begin: readonly string[]; readonly end: readonly string[] }>
> = {
  Condition: { begin: ['onset-date', 'recorded-date'], end: ['abatement-date'] },
  AllergyIntolerance: { begin: ['date'], end: [] },
  Goal: { begin: ['start-date'], end: [] },
};

/**
 * Returns the SQL condition that a row `r` of resources.resource is about care in [from, to). Index search.period_of (id,
 * key), once per row: `offset` keeps the planner from reading the periods of the whole project instead.
 */
export function careCondition(tenant: string, { from, to }: { from: Micros; to: Micros }): string {
  const joinKeys = (table: readonly (readonly [string, readonly string[]])[]): string =>
    table
      .flatMap(([type, codes]) => codes.map((code) => searchKey(parameterKey(tenant, type, code))))
      .map((key) => `${key}::int8`)
      .join(', ');
  const has = (keys: string, holds = '') => `coalesce(bool_or(p.key in (${keys})${holds}), false)`;
  const within = (keys: string, holds: string) => `(${has(keys, holds)} or not ${has(keys)})`;
  const lasting = Object.entries(LASTING);
  const single = joinKeys(Object.entries(CARE_DATES));
  const begin = joinKeys(lasting.map(([type, codes]) => [type, codes.begin]));
  const end = joinKeys(lasting.map(([type, codes]) => [type, codes.end]));
  const conditions = [
    within(single, ` and p.low < ${to} and p.high > ${from}`),
    within(begin, ` and p.low < ${to}`),
    within(end, ` and p.high > ${from}`),
  ];
  return `(select ${conditions.join(' and ')}
    from (select p.key, p.low, p.high from search.period p where p.id = r.id offset 0) p)`;
}
