/** Converts a laboratory's number to a Quantity. */
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { UCUM } from '../v1/elements.ts';
import type { Measured } from './numbers.ts';

/** Returns a Quantity with its unit as written, and with its UCUM code if the code is certain. */
export function makeQuantity(
  { comparator, value }: Measured,
  unit: string,
  code: string | undefined,
): JsonObject {
  const written = unit.trim();
  return {
    value,
    ...(comparator === undefined ? {} : { comparator }),
    ...(written === '' ? {} : { unit: written }),
    ...(code === undefined ? {} : { system: UCUM, code }),
  } satisfies Record<string, Json>;
}
