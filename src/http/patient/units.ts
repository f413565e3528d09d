/** Units as people write them, from UCUM codes (https://ucum.org/ucum): for reading only, the record keeps the code. */

/** What people write for codes that they would not recognize. */
const WRITTEN: readonly (readonly [RegExp, string])[] = [
  [/\[degF\]/g, '°F'],
  [/\bCel\b/g, '°C'],
  [/mm\[Hg\]/g, 'mmHg'],
  [/\[lb_av\]/g, 'lb'],
  [/\[in_i\]/g, 'in'],
  [/\[iU\]/gi, 'IU'],
  [/10\*(\d+)/g, '10^$1'],
  [/\bu(?=[gLlm]\b|mol)/g, 'µ'],
];

/** Returns a unit. Annotations stand for words (`{score}`), or are left out behind a unit (`mL/min/{1.73_m2}`). */
export function unitText(code: string): string {
  const words = code.replace(/\{([^{}]*)\}/g, (_, word: string) => word.replaceAll('_', ' '));
  return WRITTEN.reduce((text, [form, plain]) => text.replace(form, plain), words);
}
