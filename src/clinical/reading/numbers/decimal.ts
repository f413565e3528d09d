/** Handles decimals digit by digit: exactly, without the errors of binary fractions. Pure. */

/** A decimal in parts: `-12.50` is negative, with the digits `1250`, of which two are after the decimal point. */
interface DecimalDigits {
  readonly negative: boolean;
  readonly digits: string;
  readonly places: number;
}

/** The maximum number of digits that an exponent may add; 1e400 stays as written. */
const MOST_ADDED = 30;

/**
 * Returns the literal of a FHIR decimal, which may be a number or an object that has kept its digits; undefined for anything
 * else.
 */
export function decimalText(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
  const isLiteral = typeof value === 'object' && value !== null && 'isLosslessNumber' in value;
  // In the script of a page, literals such as 1.50 are strings.
  const text = isLiteral || typeof value === 'string' ? String(value) : '';
  return NUMBER.test(text) ? text : undefined;
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function split(text: string): DecimalDigits | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  if (whole === '') return undefined;
  const by = Number(exponent);
  if (Math.abs(by) > MOST_ADDED) return undefined;
  const places = fraction.length - by;
  const digits = whole + fraction + '0'.repeat(Math.max(0, -places));
  return { negative: sign === '-', digits, places: Math.max(0, places) };
}

function print({ negative, digits, places }: DecimalDigits): string {
  const padded = digits.padStart(places + 1, '0');
  const whole = padded.slice(0, padded.length - places).replace(/^0+(?=\d)/, '');
  const text = places === 0 ? whole : `${whole}.${padded.slice(-places)}`;
  return negative && /[1-9]/.test(text) ? `-${text}` : text;
}

/** Returns the literal with all its digits and without an exponent; unchanged if that isn't possible. */
export function plainDecimal(text: string): string {
  const parts = split(text);
  return parts === undefined || !/[eE]/.test(text) ? text : print(parts);
}

/**
 * Returns how many digits a decimal has after its decimal point, and how many of these are left without leading zeros (0.0012:
 * four, two).
 */
export function countPlaces(text: string): { readonly places: number; readonly significant: number } {
  const [, whole = '', fraction = ''] = /^-?(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  const isSmall = /^0*$/.test(whole);
  return {
    places: fraction.length,
    significant: (isSmall ? fraction.replace(/^0+/, '') : fraction).length,
  };
}

/** Returns how many decimal places a number needs for a given number of significant digits; never negative. */
export function placesFor(text: string, significant: number): number {
  const [, whole = '', fraction = ''] = /^-?0*(\d*)(?:\.(\d+))?$/.exec(text) ?? [];
  const zeros = whole === '' ? (/^0*/.exec(fraction)?.[0].length ?? 0) : 0;
  return Math.max(0, significant - whole.length + zeros);
}

/** Returns a decimal rounded to at most the given number of places; halves are rounded away from zero. */
export function roundDecimal(text: string, places: number): string {
  const parts = split(text);
  if (parts === undefined || parts.places <= places) return text;
  const dropped = parts.places - places;
  const padded = parts.digits.padStart(parts.places + 1, '0');
  const kept = BigInt(padded.slice(0, padded.length - dropped));
  const isUp = Number(padded[padded.length - dropped]) >= 5;
  return print({ ...parts, digits: String(kept + (isUp ? 1n : 0n)), places });
}

/** Compares two decimals: negative if the first is less, 0 if they are equal. */
export function compareDecimals(a: string, b: string): number {
  // Each decimal is converted to the nearest binary fraction, so if these fractions differ, the decimals differ in the same
  // direction.
  const difference = Number(a) - Number(b);
  return difference === 0 || Number.isNaN(difference) ? compareDigits(a, b) : Math.sign(difference);
}

function compareDigits(a: string, b: string): number {
  const [x, y] = [split(a), split(b)];
  if (x === undefined || y === undefined) return Math.sign(Number(a) - Number(b));
  const places = Math.max(x.places, y.places);
  const scaled = ({ negative, digits, places: own }: DecimalDigits): bigint =>
    BigInt(digits + '0'.repeat(places - own)) * (negative ? -1n : 1n);
  const difference = scaled(x) - scaled(y);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

/** Returns whether a text is a number that `Intl.NumberFormat` accepts with all its digits. */
function isNumeric(text: string): text is `${number}` {
  return NUMBER.test(text);
}

const formats = new Map<string, Intl.NumberFormat>();

/** Returns a decimal with its own digits and the language's separators; if no language is given, with a decimal point. */
export function formatDecimal(text: string, lang?: string): string {
  const plain = plainDecimal(text);
  if (lang === undefined) return plain;
  const { places } = countPlaces(plain);
  if (!isNumeric(plain) || /[eE]/.test(plain) || places > 20) return text;
  const key = `${lang} ${places}`;
  const format =
    formats.get(key) ??
    new Intl.NumberFormat(lang === 'en' ? 'en-GB' : lang, {
      minimumFractionDigits: places,
      maximumFractionDigits: places,
    });
  formats.set(key, format);
  return format.format(plain).replace(/[\u200e\u200f\u061c]/g, '');
}
