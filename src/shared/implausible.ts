/**
 * Finds values that can't be right. Writers are warned about them, but nothing is refused (docs/validation.md, "Implausible
 * values").
 */

import type { JsonObject } from './json/json.ts';
import type { Micros } from './time/time.ts';

/** Kinds of implausible values, by their code in answers. */
export const IMPLAUSIBLE = {
  impossible_value: 'a value outside what is possible',
  unit_mismatch: 'a unit that does not fit the code',
  future_date: 'a date in the future',
  born_after_death: 'a birth date after the date of death',
  implausible_age: 'a birth date that gives an impossible age',
  dates_out_of_order: 'a date before the one that it should follow',
} as const;

/** The code of a kind. */
export type ImplausibleCode = keyof typeof IMPLAUSIBLE;

/** An implausible value in a resource. */
export interface Implausible {
  readonly code: ImplausibleCode;
  /** Path of JSON names, such as `Observation.component[1].valueQuantity`. */
  readonly element: string;
  /** A sentence for the writer. It contains the value, so it must not be logged. */
  readonly message: string;
}

/**
 * Returns a resource's implausible values.
 * @param at when the resource is being written
 */
export type FindImplausible = (resource: JsonObject, at: Micros) => readonly Implausible[];
