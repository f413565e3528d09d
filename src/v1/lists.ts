/** Which lists of REST v1 a resource is in: that of its type, and those of its type's filters. Pure. */
import type { JsonObject } from '#src/shared/json.ts';
import { codes, codings, text } from '../fhir/ips/parts.ts';
import { CATEGORIES, categorySystem } from './observation.ts';
import type { TimelineType } from './timeline.ts';

/** The filters by which lists are asked for (docs/spec/interface.md, section 4.3). */
export type ListFilter = 'category' | 'code' | 'clinical_status' | 'status';

/** A coding as a filter's value; codes are compared without case, as in searches. */
export const codedValue = (system: string | undefined, code: string): string =>
  `${system ?? ''}|${code.toLowerCase()}`;

/** A filter and the value that is asked for. */
export type By = readonly [filter: ListFilter, value: string];

/** The name of a list: that of a type, or its part that meets all of some filters. */
export function listOf(type: TimelineType, ...filters: readonly By[]): string {
  const parts = filters.map(([filter, value]) => `${filter} ${value}`);
  return parts.length === 0 ? type : `${type} ${parts.join('\n')}`;
}

/**
 * The same list's part that is left out where nobody judges a resource as a whole (docs/spec/decisions.md, section 4 "Patient
 * safety"): a timeline's line says too little to say that something was refuted, or what a modifier extension means.
 */
export const unsafePart = (list: string): string => `${list} !`;

type Filters = (resource: JsonObject) => readonly (readonly By[])[];

/** The categories that REST v1 asks for: others have no list. */
const ASKED: ReadonlySet<string> = new Set(CATEGORIES.map((code) => codedValue(categorySystem(code), code)));

/**
 * How many codings of a concept make lists: the first ones. Each is a row of each version, times the categories; what
 * FHIR takes has no end, and a resource of all that a body holds would be more than a projection can write.
 */
export const MOST_CODINGS = 50;

const FILTERS: Readonly<Partial<Record<TimelineType, Filters>>> = {
  Observation: ({ category, code }) => {
    const categories = codedBy('category', codings(category)).filter(([, value]) => ASKED.has(value));
    const coded = codedBy('code', codings(code).slice(0, MOST_CODINGS));
    const both = coded.flatMap((one) => categories.map((other) => [one, other]));
    return [...[...categories, ...coded].map((one) => [one]), ...both];
  },
  Condition: ({ clinicalStatus }) =>
    codes(clinicalStatus)
      .slice(0, MOST_CODINGS)
      .map((code) => [['clinical_status', code]]),
  MedicationStatement: ({ status }) => (text(status) === undefined ? [] : [[['status', text(status) ?? '']]]),
};

/** Each value once. */
function codedBy(filter: ListFilter, all: readonly JsonObject[]): By[] {
  const values = all.flatMap(({ system, code }) => {
    const is = text(code);
    return is === undefined ? [] : codedValue(text(system), is);
  });
  return [...new Set(values)].map((value) => [filter, value]);
}

/**
 * The names of the lists that a resource is in, each once; none for what was entered in error.
 * @param modified whether it has a modifier extension anywhere: none is known here.
 */
export function listsOf(type: TimelineType, resource: JsonObject, modified: boolean): string[] {
  const verification = codes(resource.verificationStatus);
  const statuses = [resource.status, resource.lifecycleStatus, resource.docStatus, ...verification];
  if (statuses.includes('entered-in-error')) return [];
  const lists = new Set([
    listOf(type),
    ...(FILTERS[type]?.(resource) ?? []).map((by) => listOf(type, ...by)),
  ]);
  const unsafe = modified || verification.includes('refuted');
  return unsafe ? [...lists].map(unsafePart) : [...lists];
}
