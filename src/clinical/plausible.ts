/**
 * Finds implausible values of a resource: impossible values, units that don't fit their code, dates in the future, dates
 * out of order (docs/validation.md, "Implausible values"). Pure. Everything that is doubtful counts as plausible.
 */
import type { FindImplausible, Implausible } from '#src/shared/implausible.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json.ts';
import { elementPath } from '../fhir/element-path.ts';
import { misorderedDates } from './date-order.ts';
import { futureDates } from './future-dates.ts';
import { type FindMeasuredCode, type JudgeValue, openJudgement } from './measured-values.ts';

const IN_ERROR = 'entered-in-error';
const NONE: readonly Implausible[] = [];

/**
 * Returns the function that finds implausible values; of a Bundle those of its entries.
 * @param find what the terminology knows of LOINC codes
 */
export function openPlausibility(find: FindMeasuredCode): FindImplausible {
  const judge = openJudgement(find);
  const findIn: FindImplausible = (resource, at) => {
    const { resourceType: type } = resource;
    if (typeof type !== 'string' || isEnteredInError(resource)) return NONE;
    if (type === 'Bundle') return findInEntries(resource, (entry) => findIn(entry, at));
    const found = futureDates(resource, type, at);
    for (const fault of misorderedDates(resource, type)) found.push(fault);
    if (type === 'Observation') for (const fault of impossibleValues(resource, judge)) found.push(fault);
    return found;
  };
  return findIn;
}

/** Returns the faults of the values of an Observation and its components. */
function impossibleValues(observation: JsonObject, judge: JudgeValue): Implausible[] {
  const holders: [Json, string][] = [[observation, 'Observation']];
  for (const [n, part] of asList(observation.component).entries())
    holders.push([part, `Observation.component[${n}]`]);
  return holders.flatMap(([holder, path]) => (isObject(holder) ? (judge(holder, path) ?? []) : []));
}

/** Returns the faults of the resources in a Bundle, by their places in it. */
function findInEntries(
  bundle: JsonObject,
  find: (resource: JsonObject) => readonly Implausible[],
): Implausible[] {
  return asList(bundle.entry).flatMap((entry, n) => {
    const resource = isObject(entry) ? entry.resource : undefined;
    if (!isObject(resource)) return [];
    return find(resource).map((fault) => ({
      ...fault,
      element: elementPath(fault.element).replace(/^\w+/, `Bundle.entry[${n}].resource`),
    }));
  });
}

/** Tells whether the writer knows that the resource is wrong. */
function isEnteredInError({ status, verificationStatus }: JsonObject): boolean {
  if (status === IN_ERROR) return true;
  const codings = isObject(verificationStatus) ? asList(verificationStatus.coding) : [];
  return codings.some((coding) => isObject(coding) && coding.code === IN_ERROR);
}

function asList(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
