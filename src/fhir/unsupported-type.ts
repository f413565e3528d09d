/** Writes the error message for an unknown resource type. FHIR's names are case-sensitive, which people often forget. */

import { TYPE_NAMES } from '#src/fhir/types.ts';
import { cut } from '#src/shared/cut.ts';
import { didYouMean } from '#src/shared/nearest.ts';

/** Returns the message for an unsupported resource type, which suggests the nearest supported one. */
export function unsupportedType(name: string): string {
  const exact = TYPE_NAMES.find((type) => type.toLowerCase() === name.toLowerCase());
  if (exact !== undefined) return `${exact}, not ${name}: resource types are case-sensitive`;
  const advice = didYouMean(name, TYPE_NAMES) || '; /fhir/R4/metadata lists those that are';
  return `${cut(name, 64)} is not a supported resource type${advice}`;
}
