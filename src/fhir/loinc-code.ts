/** Checks LOINC codes, using Luhn's mod 10 over the digits before the hyphen (LOINC Users' Guide, "LOINC check digit"). */

/** Returns whether a text is a LOINC code with a valid check digit. */
export function isLoincCode(code: string): boolean {
  const [, digits, check] = /^(\d{1,7})-(\d)$/.exec(code) ?? [];
  if (digits === undefined) return false;
  const sum = [...digits].reverse().reduce((total, digit, place) => {
    const value = Number(digit) * (place % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return (10 - (sum % 10)) % 10 === Number(check);
}
