/**
 * Converts units as laboratories write them to UCUM, if the meaning is certain. Pure: a table and a small grammar,
 * tested against UCUM's library.
 */
import { cut } from '#src/shared/cut.ts';
import type { Json, JsonObject } from '#src/shared/json.ts';
import { canonicalRange } from '../fhir/units/canonical.ts';
import { UCUM } from '../v1/elements.ts';
import type { Measured } from './numbers.ts';
import { AMBIGUOUS, SPELLINGS, WORDS } from './unit-spellings.ts';

/** Parts with a single meaning: amounts with a prefix, whole units, powers of ten. */
const AMOUNT = /^(?:[pnumcdk]?g|[fpnum]?mol|[fpnumcd]?[Ll]|[mu]?U|[mu]?eq|m?osm|[num]?m|[num]?kat)$/;
const WHOLE = new Set([
  ...['%', 'min', 'h', 'd', 's', 'ms', 'mm[Hg]', 'kPa', 'Cel', '[pH]', 'fL', 'mm2', 'mm3', 'm2', 'cm', 'kU'],
  ...['[IU]', 'm[IU]', 'u[IU]', 'k[IU]', '[degF]', '[HPF]', '[LPF]', '10*3', '10*6', '10*9', '10*12'],
]);
const PER_VOLUME = /^\/[fpnum]?[Ll]$/;
/** `10^9`, `10E9`, `x10e9`, `x10*9`, `10**9`, `10 9`: powers of ten. */
const POWER = /^[xX*]?10(?:\^|\*{1,2}|[eE])?(3|6|9|12)(?=\/)/;

/** `IU`, also in its French and German forms. */
const INTERNATIONAL = /(^|\/)([mukM]?)(?:IU|UI|IE)(?=\/|$)/g;
/** `mcg`, `mcL`, `mcmol`. */
const MICRO = /(^|\/)mc(?=(?:g|mol|[lL])(?:\/|$))/g;

/**
 * Returns a unit in its form for comparison: without blanks, with one letter for each sign that has several typed
 * forms.
 */
function compactOf(text: string): string {
  return text
    .replaceAll(/\s+/g, '')
    .replaceAll(/[µμ]/g, 'u')
    .replaceAll('²', '2')
    .replaceAll('³', '3')
    .replaceAll('º', '°')
    .replaceAll('℃', '°C')
    .replaceAll('℉', '°F')
    .replaceAll(MICRO, '$1u')
    .replaceAll(INTERNATIONAL, '$1$2[IU]');
}

/**
 * Returns a unit in UCUM; undefined if it is invalid or not certain.
 * @param named whether the message says that it is a UCUM unit
 */
export function ucumOf(text: string, named = false): string | undefined {
  const compact = compactOf(text);
  if (compact === '') return undefined;
  const known = SPELLINGS.get(compact);
  if (known !== undefined) return known;
  const powered = compact.replace(POWER, '10*$1');
  if (PER_VOLUME.test(powered)) return withLitres(powered);
  const [first = '', second, ...more] = powered.split('/');
  const isPart = (part: string): boolean => AMOUNT.test(part) || WHOLE.has(part);
  if (more.length === 0 && isPart(first) && (second === undefined || isPart(second)))
    return withLitres(powered);
  const word = WORDS.get(compact.toLowerCase());
  if (word !== undefined) return word;
  return named && canonicalRange(text, '1', '1') !== undefined ? text : undefined;
}

/**
 * Returns the warning about a unit that isn't certain and so gets no code; it suggests replacements if the unit may
 * mean several.
 */
export function unitKept(text: string): string {
  const said = `the unit ${cut(text, 60)} is kept as text`;
  const meant = AMBIGUOUS.get(compactOf(text));
  return meant === undefined
    ? `${said}: it is not certain which UCUM unit it means`
    : `${said}: it is ambiguous; write ${meant.join(', or ')}`;
}

/** The result for a unit that a person typed: UCUM, or the units that it may mean; undefined if it isn't a unit. */
export type TypedUnit = { readonly ucum: string } | { readonly ambiguous: readonly string[] } | undefined;

/**
 * Parses a unit that people and apps type where UCUM is required. Common spellings take precedence over UCUM, where
 * some of them mean units that nobody uses (`pH` picohenry, `ft` femtotonnes); other UCUM units are returned unchanged.
 * @param isUcum returns whether a text is a unit of UCUM.
 */
export function readUnit(text: string, isUcum: (text: string) => boolean): TypedUnit {
  const compact = compactOf(text);
  if (compact === '') return undefined;
  const ambiguous = AMBIGUOUS.get(compact);
  if (ambiguous !== undefined) return { ambiguous };
  const spelled = SPELLINGS.get(compact);
  if (spelled !== undefined) return { ucum: spelled };
  if (isUcum(text)) return { ucum: text };
  const ucum = ucumOf(text) ?? compact;
  return isUcum(ucum) ? { ucum } : undefined;
}

/** Returns a unit with `L` for litres: UCUM has both forms, and one is enough. */
function withLitres(unit: string): string {
  return unit.replaceAll(/(^|\/)([fpnumcd]?)l(?=\/|$)/g, '$1$2L');
}

/** Returns a Quantity with its unit as written, and its UCUM code if that is certain. */
export function quantityOf(
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
