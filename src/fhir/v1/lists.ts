/** Which lists of REST v1 a resource is in: that of its type, and those of its type's filters. Pure. */
import type { JsonObject } from '#src/shared/json.ts';
import { codes, codings, text } from '../ips/parts.ts';
import type { TimelineType } from './timeline.ts';

/** The filters by which lists are asked for (interface.md, section 4.3). */
export type ListFilter = 'category' | 'code' | 'clinical_status' | 'status';

/** A coding as a filter's value; codes are compared without case, as in searches. */
export const codedValue = (system: string | undefined, code: string): string =>
  `${system ?? ''}|${code.toLowerCase()}`;

/** The name of a list. */
export function listOf(type: TimelineType, filter?: readonly [ListFilter, string]): string {
  return filter === undefined ? type : `${type} ${filter[0]} ${filter[1]}`;
}

/**
 * The same list's part that is left out where nobody judges a resource as a whole (decisions.md, section 4, "Patient
 * safety"): a timeline's line says too little to say that something was refuted, or what a modifier extension means.
 */
export const unsafePart = (list: string): string => `${list} !`;

type Filters = (resource: JsonObject) => readonly (readonly [ListFilter, string])[];

const FILTERS: Readonly<Partial<Record<TimelineType, Filters>>> = {
  Observation: ({ category, code }) => [...codedBy('category', category), ...codedBy('code', code)],
  Condition: ({ clinicalStatus }) => codes(clinicalStatus).map((code) => ['clinical_status', code]),
  MedicationStatement: ({ status }) => (text(status) === undefined ? [] : [['status', text(status) ?? '']]),
};

function codedBy(
  filter: ListFilter,
  concept: JsonObject[string] | undefined,
): (readonly [ListFilter, string])[] {
  return codings(concept).flatMap(({ system, code }) => {
    const is = text(code);
    return is === undefined ? [] : [[filter, codedValue(text(system), is)] as const];
  });
}

/**
 * The names of the lists that a resource is in, each once; none for what was entered in error.
 * @param modified whether it has a modifier extension anywhere: none is known here.
 */
export function listsOf(type: TimelineType, resource: JsonObject, modified: boolean): string[] {
  const verification = codes(resource.verificationStatus);
  const statuses = [resource.status, resource.lifecycleStatus, resource.docStatus, ...verification];
  if (statuses.includes('entered-in-error')) return [];
  const lists = new Set([listOf(type), ...(FILTERS[type]?.(resource) ?? []).map((by) => listOf(type, by))]);
  const unsafe = modified || verification.includes('refuted');
  return unsafe ? [...lists].map(unsafePart) : [...lists];
}
