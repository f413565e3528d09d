/** Exact decimal arithmetic: digits × 10^power. */

/** A decimal number. */
export interface Decimal {
  readonly digits: bigint;
  readonly power: number;
}

const TEXT = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?$/;

/**
 * Parses a decimal text such as `-1.50` or `6e23`.
 * @throws Error for other text.
 */
export function decimalOf(text: string): Decimal {
  const [matched, sign, whole = '', fraction = '', exponent = '0'] = TEXT.exec(text) ?? [];
  if (matched === undefined || whole + fraction === '') throw new Error(`no decimal: ${text}`);
  return {
    digits: BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`),
    power: Number(exponent) - fraction.length,
  };
}

/** Returns a text that PostgreSQL reads as `numeric`, without redundant zeros at its end. */
export function decimalText({ digits, power }: Decimal): string {
  if (power === 0 || digits === 0n) return String(digits);
  const text = String(digits);
  let end = text.length;
  while (text[end - 1] === '0') end -= 1;
  const exponent = power + text.length - end;
  return exponent === 0 ? text.slice(0, end) : `${text.slice(0, end)}e${exponent}`;
}

/** Returns the product of two decimals. */
export function times(a: Decimal, b: Decimal): Decimal {
  return { digits: a.digits * b.digits, power: a.power + b.power };
}

/** Returns the sum of two decimals. */
export function plus(a: Decimal, b: Decimal): Decimal {
  if (b.digits === 0n) return a;
  const power = Math.min(a.power, b.power);
  const aligned = (each: Decimal) => each.digits * 10n ** BigInt(each.power - power);
  return { digits: aligned(a) + aligned(b), power };
}

/** Returns a value rounded to a number of significant digits, half away from zero. */
export function rounded(value: Decimal, significant: number): Decimal {
  const negative = value.digits < 0n;
  const digits = negative ? -value.digits : value.digits;
  const surplus = String(digits).length - significant;
  if (surplus <= 0) return value;
  const unit = 10n ** BigInt(surplus);
  const kept = (digits + unit / 2n) / unit;
  return { digits: negative ? -kept : kept, power: value.power + surplus };
}
