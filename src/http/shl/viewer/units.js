/** Units as people write them, from UCUM codes (https://ucum.org/ucum), as the patient's own pages do. */

const WRITTEN = [
  [/\[degF\]/g, '°F'],
  [/\bCel\b/g, '°C'],
  [/mm\[Hg\]/g, 'mmHg'],
  [/\[lb_av\]/g, 'lb'],
  [/\[in_i\]/g, 'in'],
  [/\[iU\]/gi, 'IU'],
  [/10\*(\d+)/g, '10^$1'],
  [/\bu(?=[gLlm]\b|mol)/g, 'µ'],
];

/** Returns a unit. Annotations stand for words (`{score}`). */
export function unitText(code) {
  const words = code.replace(/\{([^{}]*)\}/g, (_, word) => word.replaceAll('_', ' '));
  return WRITTEN.reduce((text, [form, plain]) => text.replace(form, plain), words === '1' ? '' : words);
}
