/**
 * Units of hormones: laboratories write `uU/mL` and mean international units, where UCUM's `U` is the unit of an enzyme's
 * activity. Pure.
 */
import type { JsonObject } from '#src/shared/json.ts';
import { LOINC, listIn, textIn } from '../v1/elements.ts';

/** LOINC codes of amounts that are standardised in international units, and nothing else: serum or plasma, [Units/volume]. */
const CODES: ReadonlySet<string> = new Set([
  ...['3016-3', '11579-0', '11580-8'], // Thyrotropin
  '15067-2', // Follitropin
  '10501-5', // Lutropin
  '15081-3', // Prolactin
  ...['19080-1', '21198-7'], // Choriogonadotropin, and its beta subunit
  '20448-7', // Insulin
]);
/** What laboratories of all countries call the same, as code or text, in lower case: the sharp s that stands for beta has no upper. */
const NAMES: ReadonlySet<string> = new Set(['tsh', 'fsh', 'hcg', 'beta-hcg', 'b-hcg', 'ß-hcg', 'β-hcg']);
/** In UCUM. */
const UNITS = /^([mu]?)U\/(m?L)$/;

/**
 * The unit of an amount of something.
 * @param unit in UCUM; undefined where it is not certain
 * @param code of what was measured, a CodeableConcept
 * @returns in international units where what was measured is given in these, else the unit as it is
 */
export function unitOf(unit: string | undefined, code: JsonObject | undefined): string | undefined {
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
