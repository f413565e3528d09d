/** Units as people write them, from UCUM codes (https://ucum.org/ucum): for reading only, the record keeps the code. */

/** What people write for codes that they would not recognize. */
const WRITTEN: readonly (readonly [RegExp, string])[] = [
  [/\[degF\]/g, '°F'],
  [/\bCel\b/g, '°C'],
  [/mm\[Hg\]/g, 'mmHg'],
  [/\[lb_av\]/g, 'lb'],
  [/\[in_i\]/g, 'in'],
  [/\[iU\]/gi, 'IU'],
  [/\bu(?=[gLlm]\b|mol)/g, 'µ'],
];

/** 10 to a power: 10*3 is written 10³. */
const POWER = /10\*(-?\d+)/g;
const raised = (power: string): string =>
  power.replace(/[-\d]/g, (sign) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(sign)] ?? '⁻');

/** Returns a unit. Annotations stand for words (`{score}`), or are left out behind a unit (`mL/min/{1.73_m2}`). */
export function unitText(code: string): string {
  const words = code.replace(/\{([^{}]*)\}/g, (_, word: string) => word.replaceAll('_', ' '));
  const plain = words.replace(POWER, (_, power: string) => `10${raised(power)}`);
  return WRITTEN.reduce((text, [form, written]) => text.replace(form, written), plain);
}
