/** Compares quantities in exact decimals: https://hl7.org/fhir/R4/search.html#quantity */
import { splitPrefix } from './interval.ts';
import type { Json } from './published.ts';
import { splitEscaped } from './text.ts';

const UCUM = 'http://unitsofmeasure.org';
/** Number of decimal places of all numbers in this file. */
const SCALE = 18;

/** The units that tests use, with their dimension, and their size as a multiple of that dimension's smallest unit. */
const UNITS: Readonly<Record<string, readonly [dimension: string, size: bigint]>> = {
  mg: ['mass', 1_000n],
  ug: ['mass', 1n],
  g: ['mass', 1_000_000n],
  kg: ['mass', 1_000_000_000n],
  '[lb_av]': ['mass', 453_592_370n],
  h: ['time', 60n],
  min: ['time', 1n],
  d: ['time', 1_440n],
  mo: ['time', 43_830n],
  a: ['time', 525_960n],
  'mmol/L': ['concentration', 1_000n],
  'umol/L': ['concentration', 1n],
  'umol/mL': ['concentration', 1_000n],
  'mol/mol': ['ratio of amounts', 1_000n],
  'mmol/mol': ['ratio of amounts', 1n],
  'meq/L': ['equivalents', 1_000n],
  'ueq/L': ['equivalents', 1n],
  'kg/m2': ['mass of an area', 1_000n],
  'g/m2': ['mass of an area', 1n],
  'ng/L': ['mass of a volume', 1n],
  'ug/L': ['mass of a volume', 1_000n],
};

function exact(text: string): bigint {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d*)\.?(\d*)$/.exec(text) ?? [];
  const digits = BigInt(`${whole}${fraction.padEnd(SCALE, '0')}`);
  return sign === '-' ? -digits : digits;
}

interface Amount {
  /** Undefined if open. */
  readonly low: bigint | undefined;
  readonly high: bigint | undefined;
  /** True if the range excludes its ends: "less than 5" doesn't include 5. */
  readonly isExclusive: boolean;
  readonly system: string | undefined;
  readonly code: string | undefined;
  readonly unit: string | undefined;
}

function amountOf(element: Json): Amount | undefined {
  const number = (value: unknown) => (typeof value === 'number' ? exact(String(value)) : undefined);
  if (element.low !== undefined || element.high !== undefined) {
    const [low, high] = [element.low as Json | undefined, element.high as Json | undefined];
    return {
      ...unitOf(low ?? high ?? {}),
      ...{ low: number(low?.value), high: number(high?.value), isExclusive: false },
    };
  }
  const value = number(element.value);
  if (value === undefined) return undefined;
  const comparator = String(element.comparator ?? '');
  return {
    ...unitOf(element),
    low: comparator.startsWith('<') ? undefined : value,
    high: comparator.startsWith('>') ? undefined : value,
    isExclusive: comparator === '<' || comparator === '>',
  };
}

function unitOf({ system, code, unit }: Json): Pick<Amount, 'system' | 'code' | 'unit'> {
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return { system: text(system), code: text(code), unit: text(unit) };
}

/** Returns whether an element matches `number|system|code` with a prefix. */
export function quantityMatches(element: Json, text: string): boolean {
  const amount = amountOf(element);
  if (amount === undefined) return false;
  const [prefixed = '', system = '', code = ''] = splitEscaped(text, '|');
  const [prefix, number] = splitPrefix(prefixed);
  const factors = factorsOf(amount, system, code);
  if (factors === undefined) return false;
  const [ours, theirs] = factors;
  const half = 5n * 10n ** BigInt(SCALE - (number.split('.')[1]?.length ?? 0) - 1);
  const asked = exact(number);
  const value = asked * theirs;
  const [from, to] = [(asked - half) * theirs, (asked + half) * theirs];
  const low = amount.low === undefined ? undefined : amount.low * ours;
  const high = amount.high === undefined ? undefined : amount.high * ours;
  const { isExclusive } = amount;
  const within = low !== undefined && high !== undefined && low >= from && high < to;
  switch (prefix) {
    case 'eq':
      return within;
    case 'ne':
      return !within;
    // With these prefixes, the number is exact: https://hl7.org/fhir/R4/search.html#number
    case 'gt':
      return high === undefined || high > value;
    case 'ge':
      return high === undefined || high > value || (high === value && !isExclusive);
    case 'lt':
      return low === undefined || low < value;
    case 'le':
      return low === undefined || low < value || (low === value && !isExclusive);
    case 'sa':
      return low !== undefined && (low > value || (low === value && isExclusive));
    case 'eb':
      return high !== undefined && (high < value || (high === value && isExclusive));
  }
}

/** Returns the factors for comparing the element's number with the query's number; undefined if the units aren't comparable. */
function factorsOf(amount: Amount, system: string, code: string): readonly [bigint, bigint] | undefined {
  if (code === '') return system === '' || system === amount.system ? [1n, 1n] : undefined;
  if (system === '') return code === amount.code || code === amount.unit ? [1n, 1n] : undefined;
  if (system !== amount.system) return undefined;
  const [ours, theirs] = [UNITS[amount.code ?? ''], UNITS[code]];
  if (system !== UCUM || ours === undefined || theirs === undefined) {
    return code === amount.code ? [1n, 1n] : undefined;
  }
  return ours[0] === theirs[0] ? [ours[1], theirs[1]] : undefined;
}
