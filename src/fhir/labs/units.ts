/** Units as laboratories write them, in UCUM where that is certain. Pure: a table and a small grammar, tested against UCUM's library. */
import type { Json, JsonObject } from '#src/shared/json.ts';
import { canonicalRange } from '../units/canonical.ts';
import { UCUM } from '../v1/elements.ts';
import type { Measured } from './numbers.ts';

/**
 * Spellings that mean one unit and nothing else, without blanks, `µ` as `u`; letters' case counts. → UCUM. `G/L` is none:
 * where all is written in capitals it means grams.
 */
const SPELLINGS: Readonly<Record<string, string>> = {
  'IU/L': '[IU]/L',
  'IU/l': '[IU]/L',
  'IU/mL': '[IU]/mL',
  'IU/ml': '[IU]/mL',
  'IE/L': '[IU]/L',
  'IE/l': '[IU]/L',
  'IE/mL': '[IU]/mL',
  'IE/ml': '[IU]/mL',
  'kIU/L': 'k[IU]/L',
  'kIU/l': 'k[IU]/L',
  'mIU/L': 'm[IU]/L',
  'mIU/l': 'm[IU]/L',
  'mIE/L': 'm[IU]/L',
  'mIE/l': 'm[IU]/L',
  'mIU/mL': 'm[IU]/mL',
  'mIU/ml': 'm[IU]/mL',
  'uIU/mL': 'u[IU]/mL',
  'uIU/ml': 'u[IU]/mL',
  'U/L': 'U/L',
  'U/l': 'U/L',
  'mEq/L': 'meq/L',
  'mEq/l': 'meq/L',
  'mval/l': 'meq/L',
  'mcg/L': 'ug/L',
  'mcg/dL': 'ug/dL',
  'mcg/mL': 'ug/mL',
  'mcmol/L': 'umol/L',
  'gm/dL': 'g/dL',
  'gm/dl': 'g/dL',
  'g%': 'g/dL',
  'mg%': 'mg/dL',
  mmHg: 'mm[Hg]',
  sec: 's',
  sek: 's',
  Sek: 's',
  seconds: 's',
  mm1h: 'mm/h',
  'mm/1h': 'mm/h',
  'mm/hr': 'mm/h',
  'mm/Std': 'mm/h',
  pct: '%',
  '°C': 'Cel',
  degC: 'Cel',
  '°F': '[degF]',
  degF: '[degF]',
  pH: '[pH]',
  'mOsm/kg': 'mosm/kg',
  'mOsmol/kg': 'mosm/kg',
  'mosmol/kg': 'mosm/kg',
  'copies/mL': '{copies}/mL',
  'copies/ml': '{copies}/mL',
  'cells/uL': '{cells}/uL',
  'cells/ul': '{cells}/uL',
  'cells/mm3': '{cells}/mm3',
  'Zellen/ul': '{cells}/uL',
  'K/uL': '10*3/uL',
  'k/uL': '10*3/uL',
  'M/uL': '10*6/uL',
  'G/l': '10*9/L',
  'T/l': '10*12/L',
  'T/L': '10*12/L',
  'E9/L': '10*9/L',
  'E9/l': '10*9/L',
  'E12/L': '10*12/L',
  'E12/l': '10*12/L',
  'Gpt/l': '10*9/L',
  'Gpt/L': '10*9/L',
  'Tpt/l': '10*12/L',
  'Tpt/L': '10*12/L',
  'mill/uL': '10*6/uL',
  'Mill/ul': '10*6/uL',
  'Mio/ul': '10*6/uL',
  'Tsd/ul': '10*3/uL',
  'thou/uL': '10*3/uL',
  'mL/min/1.73m2': 'mL/min/{1.73_m2}',
  'ml/min/1.73m2': 'mL/min/{1.73_m2}',
  'mL/min/1,73m2': 'mL/min/{1.73_m2}',
  'ml/min/1,73m2': 'mL/min/{1.73_m2}',
  'mL/min/1.73': 'mL/min/{1.73_m2}',
  'mL/min/{1.73_m2}': 'mL/min/{1.73_m2}',
  'mg/gKrea': 'mg/g{creat}',
  'mg/gCrea': 'mg/g{creat}',
  'mg/gcreat': 'mg/g{creat}',
  'mg/gcreatinine': 'mg/g{creat}',
  'mg/mmolcreat': 'mg/mmol{creat}',
  'mg/mmolKrea': 'mg/mmol{creat}',
  ratio: '{ratio}',
  Ratio: '{ratio}',
  index: '{index}',
  Index: '{index}',
  INR: '{INR}',
  '{INR}': '{INR}',
  titer: '{titer}',
  Titer: '{titer}',
  score: '{score}',
};

/** Parts that have one meaning: amounts with a prefix, whole units, powers of ten. */
const AMOUNT = /^(?:[pnumcdk]?g|[fpnum]?mol|[fpnumcd]?[Ll]|[mu]?U|[mu]?eq|m?osm|[num]?m|[num]?kat)$/;
const WHOLE = new Set([
  ...['%', 'min', 'h', 'd', 's', 'ms', 'mm[Hg]', 'kPa', 'Cel', '[pH]', 'fL', 'mm2', 'mm3', 'm2', 'cm', 'kU'],
  ...['[IU]', 'm[IU]', 'u[IU]', 'k[IU]', '[degF]', '[HPF]', '[LPF]', '10*3', '10*6', '10*9', '10*12'],
]);
const PER_VOLUME = /^\/[fpnum]?[Ll]$/;
/** `10^9`, `10E9`, `x10e9`, `x10*9`, `10**9`, `10 9`: powers of ten. */
const POWER = /^[xX*]?10(?:\^|\*{1,2}|[eE])?(3|6|9|12)(?=\/)/;

/** A unit in UCUM; undefined where it is none, or not certain. @param named the message says that it is UCUM's */
export function ucumOf(text: string, named = false): string | undefined {
  const plain = text.trim().replaceAll(/[µμ]/g, 'u').replaceAll('²', '2').replaceAll('³', '3');
  const compact = plain.replaceAll(/\s+/g, '');
  if (compact === '') return undefined;
  const known = SPELLINGS[compact];
  if (known !== undefined) return known;
  const powered = compact.replace(POWER, '10*$1');
  if (PER_VOLUME.test(powered)) return withLitres(powered);
  const [first = '', second, ...more] = powered.split('/');
  const isPart = (part: string): boolean => AMOUNT.test(part) || WHOLE.has(part);
  if (more.length === 0 && isPart(first) && (second === undefined || isPart(second)))
    return withLitres(powered);
  return named && canonicalRange(text, '1', '1') !== undefined ? text : undefined;
}

/** UCUM knows both; one is enough. */
function withLitres(unit: string): string {
  return unit.replaceAll(/(^|\/)([fpnumcd]?)l(?=\/|$)/g, '$1$2L');
}

/** A number with its unit as it was written, and in UCUM where that is certain. */
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
