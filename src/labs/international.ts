/**
 * Units of hormones: laboratories write `uU/mL` for international units, but in UCUM, `U` is the unit of enzyme activity.
 * Pure.
 */
import type { JsonObject } from '#src/shared/json/json.ts';
import { LOINC, listIn, textIn } from '../v1/elements.ts';

/** LOINC codes of analytes that are standardised only in international units: serum or plasma, [Units/volume]. */
const CODES: ReadonlySet<string> = new Set([
  ...['3016-3', '11579-0', '11580-8'], // Thyrotropin
  '15067-2', // Follitropin
  '10501-5', // Lutropin
  '15081-3', // Prolactin
  ...['19080-1', '21198-7'], // Choriogonadotropin, and its beta subunit
  '20448-7', // Insulin
]);
/** Names of tests whose results are in international units in every country: codes or texts, in lower case. */
const NAMES: ReadonlySet<string> = new Set(['tsh', 'fsh', 'hcg', 'beta-hcg', 'b-hcg', 'ß-hcg', 'β-hcg']);
/** Matches units per volume in UCUM. */
const UNITS = /^([mu]?)U\/(m?L)$/;

/**
 * Returns the unit of a result.
 * @param unit in UCUM; undefined if it is uncertain
 * @param code of the test, a CodeableConcept
 * @returns international units if the test is reported in them, otherwise the unit unchanged
 */
export function chooseUnit(unit: string | undefined, code: JsonObject | undefined): string | undefined {
  const [, prefix, volume] = UNITS.exec(unit ?? '') ?? [];
  return prefix !== undefined && isInternational(code) ? `${prefix}[IU]/${volume}` : unit;
}

function isInternational(code: JsonObject | undefined): boolean {
  if (code === undefined) return false;
  const codings = listIn(code.coding);
  if (codings.some(({ system, code: one }) => system === LOINC && CODES.has(textIn(one) ?? ''))) return true;
  const names = [code.text, ...codings.flatMap(({ code: one, display }) => [one, display])];
  return names.some((name) => NAMES.has((textIn(name) ?? '').trim().toLowerCase()));
}
