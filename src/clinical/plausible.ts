/**
 * Finds implausible values of a resource: impossible values, units that don't fit their code, dates in the future, dates
 * out of order (docs/validation.md, "Implausible values"). Pure. Everything that is doubtful counts as plausible.
 */
import type { FindImplausible, Implausible } from '#src/shared/implausible.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json.ts';
import { misorderedDates } from './date-order.ts';
import { futureDates } from './future-dates.ts';
import { type FindMeasuredCode, openJudgement } from './measured-values.ts';

const IN_ERROR = 'entered-in-error';
const NONE: readonly Implausible[] = [];

/** Returns the function that finds implausible values. @param find what the terminology knows of LOINC codes */
export function openPlausibility(find: FindMeasuredCode): FindImplausible {
  const judge = openJudgement(find);
  return (resource, at) => {
    const { resourceType: type } = resource;
    if (typeof type !== 'string' || isEnteredInError(resource)) return NONE;
    const found = futureDates(resource, type, at);
    for (const fault of misorderedDates(resource, type)) found.push(fault);
    if (type !== 'Observation') return found;
    const own = judge(resource, type);
    if (own !== undefined) found.push(own);
    for (const [n, part] of listOf(resource.component).entries()) {
      const fault = isObject(part) ? judge(part, `${type}.component[${n}]`) : undefined;
      if (fault !== undefined) found.push(fault);
    }
    return found;
  };
}

/** Tells whether the writer knows that the resource is wrong. */
function isEnteredInError({ status, verificationStatus }: JsonObject): boolean {
  if (status === IN_ERROR) return true;
  const codings = isObject(verificationStatus) ? listOf(verificationStatus.coding) : [];
  return codings.some((coding) => isObject(coding) && coding.code === IN_ERROR);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
