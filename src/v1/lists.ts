/** Names the REST v1 lists to which a resource belongs: the list for its type, and the parts of that list by filter. Pure. */
import type { JsonObject } from '#src/shared/json/json.ts';
import { codes, codings, text } from '../fhir/parts.ts';
import { listIn } from './elements.ts';
import { CATEGORIES, categorySystem } from './observation.ts';
import type { TimelineType } from './timeline.ts';

/** Filters on lists (docs/spec/interface.md, section 4.3). */
export type ListFilter = 'category' | 'code' | 'component' | 'clinical_status' | 'status';

/** Returns a coding as a filter's value; codes are compared case-insensitively, as in searches. */
export const codedValue = (system: string | undefined, code: string): string =>
  `${system ?? ''}|${code.toLowerCase()}`;

export type By = readonly [filter: ListFilter, value: string];

/** Returns the name of a list: either everything of a type, or the part of it that matches the given filters. */
export function nameList(type: TimelineType, ...filters: readonly By[]): string {
  const parts = filters.map(([filter, value]) => `${filter} ${value}`);
  return parts.length === 0 ? type : `${type} ${parts.join('\n')}`;
}

/**
 * Returns the name of the part of a list that the timeline leaves out (docs/spec/decisions.md, section 4 "Patient safety"),
 * because a single line can't express that a resource was refuted or what a modifier extension means.
 */
export const unsafePart = (list: string): string => `${list} !`;

/**
 * Returns the name of the list of entries made in error that would otherwise belong to the given list. These entries are never
 * shown, but series and patterns count them (docs/spec/decisions.md, section 4 "Patient safety").
 */
export const withdrawnPart = (list: string): string => `${list} -`;

/**
 * Returns the name of the list of those entries in a list whose date names only a month or year. They belong to every day in
 * that month or year (docs/spec/decisions.md, section 4 "The day of a value").
 */
export const vaguePart = (list: string): string => `${list} ~`;

type Filters = (resource: JsonObject) => readonly (readonly By[])[];

/** Categories that have their own lists. */
const ASKED: ReadonlySet<string> = new Set(CATEGORIES.map((code) => codedValue(categorySystem(code), code)));

/**
 * Returns the name of the part of a list, or of its unsafe part, with the entries in one category; undefined if that part
 * doesn't exist. There are lists by category for Observation and for each of its codes, for the categories of REST v1 in their
 * own code system.
 */
export function partOfCategory(name: string, system: string | undefined, code: string): string | undefined {
  const own: By = ['category', codedValue(system, code)];
  if (system === undefined || !ASKED.has(own[1])) return undefined;
  const isUnsafe = name.endsWith(unsafePart(''));
  const list = isUnsafe ? name.slice(0, -unsafePart('').length) : name;
  const [, coded] = /^Observation code ([^\n]+)$/.exec(list) ?? [];
  const isOwn = list === nameList('Observation') || list === nameList('Observation', own);
  if (!isOwn && coded === undefined) return undefined;
  const part = nameList('Observation', ...(coded === undefined ? [own] : [['code', coded] as const, own]));
  return isUnsafe ? unsafePart(part) : part;
}

/**
 * Maximum number of a concept's codings for which lists are created. Each coding takes up a row per version and category, and
 * FHIR sets no limit, so a large resource could otherwise exceed what a projection can write.
 */
export const MOST_CODINGS = 50;

const FILTERS: Readonly<Partial<Record<TimelineType, Filters>>> = {
  Observation: ({ category, code, component }) => {
    const categories = codedBy('category', codings(category)).filter(([, value]) => ASKED.has(value));
    const coded = codedBy('code', codings(code).slice(0, MOST_CODINGS));
    const both = coded.flatMap((one) => categories.map((other) => [one, other]));
    const parts = listIn(component).flatMap((part) => codings(part.code));
    const components = codedBy('component', parts.slice(0, MOST_CODINGS));
    return [...[...categories, ...coded, ...components].map((one) => [one]), ...both];
  },
  Condition: ({ clinicalStatus }) =>
    codes(clinicalStatus)
      .slice(0, MOST_CODINGS)
      .map((code) => [['clinical_status', code]]),
  MedicationRequest: byStatus,
  MedicationStatement: byStatus,
};

function byStatus({ status }: JsonObject): (readonly By[])[] {
  const said = text(status);
  return said === undefined ? [] : [[['status', said]]];
}

/** Returns filters by code, each value once. */
function codedBy(filter: ListFilter, all: readonly JsonObject[]): By[] {
  const values = all.flatMap(({ system, code }) => {
    const is = text(code);
    return is === undefined ? [] : codedValue(text(system), is);
  });
  return [...new Set(values)].map((value) => [filter, value]);
}

/**
 * Returns the lists to which a resource belongs; none if it was entered in error or prohibits a medication.
 * @param modified whether the resource has a modifier extension at any depth, or `implicitRules`
 */
export function listNames(type: TimelineType, resource: JsonObject, modified: boolean): string[] {
  if (isWithdrawn(resource) || isProhibition(resource)) return [];
  const lists = allListNames(type, resource);
  const unsafe = modified || codes(resource.verificationStatus).includes('refuted');
  return unsafe ? lists.map(unsafePart) : lists;
}

/**
 * Returns the lists that count an Observation that was entered in error: the lists that `listNames` would return if it weren't
 * in error.
 */
export function withdrawnListNames(type: TimelineType, resource: JsonObject): string[] {
  if (type !== 'Observation' || !isWithdrawn(resource)) return [];
  return allListNames(type, resource).map(withdrawnPart);
}

function isWithdrawn({ status, lifecycleStatus, docStatus, verificationStatus }: JsonObject): boolean {
  return [status, lifecycleStatus, docStatus, ...codes(verificationStatus)].includes('entered-in-error');
}

function allListNames(type: TimelineType, resource: JsonObject): string[] {
  const filtered = (FILTERS[type]?.(resource) ?? []).map((by) => nameList(type, ...by));
  return [...new Set([nameList(type), ...filtered])];
}

/**
 * Returns whether a resource says that something must not be taken (`doNotPerform`). Such a request isn't a prescription, and
 * no member of a prescription could express it.
 */
export function isProhibition({ doNotPerform }: JsonObject): boolean {
  return doNotPerform === true;
}
