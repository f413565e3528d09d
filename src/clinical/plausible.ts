/**
 * Finds implausible values in a resource: impossible values, units that don't fit their code, dates in the future or in the
 * wrong order, and ages that nobody reaches (docs/validation.md, "Implausible values"). Pure. In doubt, a value is treated as
 * plausible.
 */
import type { FindImplausible, Implausible } from '#src/shared/implausible.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { elementPath } from '../fhir/element-path.ts';
import { futureDates, impossibleAge, misorderedDates } from './implausible-dates.ts';
import {
  type FindMeasuredCode,
  type JudgeValue,
  misorderedPressures,
  openJudgement,
} from './measured-values.ts';

const IN_ERROR = 'entered-in-error';
const NONE: readonly Implausible[] = [];

/**
 * Returns the function that finds implausible values, also in contained resources and in a Bundle's entries.
 * @param find looks up LOINC codes in the terminology
 */
export function openPlausibility(find: FindMeasuredCode): FindImplausible {
  const judge = openJudgement(find);
  const findIn: FindImplausible = (resource, at) => {
    const { resourceType: type } = resource;
    if (typeof type !== 'string' || isEnteredInError(resource)) return NONE;
    const find = (inner: JsonObject) => findIn(inner, at);
    if (type === 'Bundle')
      return asList(resource.entry).flatMap((entry, n) =>
        isObject(entry) ? findInside(entry.resource, `Bundle.entry[${n}].resource`, find) : [],
      );
    const found = futureDates(resource, type, at);
    for (const fault of misorderedDates(resource, type)) found.push(fault);
    const age = impossibleAge(resource, type, at);
    if (age !== undefined) found.push(age);
    for (const [n, inner] of asList(resource.contained).entries())
      for (const fault of findInside(inner, `${type}.contained[${n}]`, find)) found.push(fault);
    if (type === 'Observation') for (const fault of impossibleValues(resource, judge)) found.push(fault);
    return found;
  };
  return findIn;
}

/** Returns the faults in the values of an Observation and its components. */
function impossibleValues(observation: JsonObject, judge: JudgeValue): Implausible[] {
  const holders: [Json, string][] = [[observation, 'Observation']];
  const components = asList(observation.component);
  for (const [n, part] of components.entries()) holders.push([part, `Observation.component[${n}]`]);
  const found = holders.flatMap(([holder, path]) => (isObject(holder) ? (judge(holder, path) ?? []) : []));
  for (const fault of misorderedPressures(components))
    if (found.every(({ element }) => element !== fault.element)) found.push(fault);
  return found;
}

/**
 * Returns the faults in a resource that is inside another, with paths that start at the outer resource.
 * @param place path of the inner resource
 */
function findInside(
  resource: Json | undefined,
  place: string,
  find: (resource: JsonObject) => readonly Implausible[],
): Implausible[] {
  if (!isObject(resource)) return [];
  return find(resource).map((fault) => ({
    ...fault,
    element: elementPath(fault.element).replace(/^\w+/, () => place),
  }));
}

/** Returns whether the resource is marked as entered in error. */
function isEnteredInError({ status, verificationStatus }: JsonObject): boolean {
  if (status === IN_ERROR) return true;
  const codings = isObject(verificationStatus) ? asList(verificationStatus.coding) : [];
  return codings.some((coding) => isObject(coding) && coding.code === IN_ERROR);
}

function asList(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
