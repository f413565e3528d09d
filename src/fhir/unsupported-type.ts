/** How an unknown resource type is refused: FHIR's names are case-sensitive, and people forget it. */
import { TYPE_NAMES } from '#src/fhir/types.ts';
import { didYouMean } from '#src/shared/nearest.ts';

/** What to say of a name that is not one of the supported resource types, with the nearest of those. */
export function unsupportedType(name: string): string {
  const exact = TYPE_NAMES.find((type) => type.toLowerCase() === name.toLowerCase());
  if (exact !== undefined) return `${exact}, not ${name}: resource types are case-sensitive`;
  const advice = didYouMean(name, TYPE_NAMES) || '; /fhir/R4/metadata lists those that are';
  return `${name.slice(0, 64)} is not a supported resource type${advice}`;
}
