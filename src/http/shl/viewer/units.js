/** Units as people write them, from UCUM codes (https://ucum.org/ucum), as the patient's own pages do. */

const WRITTEN = [
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
const raised = (power) => power.replace(/[-\d]/g, (sign) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(sign)] ?? '⁻');

/** Returns a unit. Annotations stand for words (`{score}`). */
export function unitText(code) {
  const words = code.replace(/\{([^{}]*)\}/g, (_, word) => word.replaceAll('_', ' '));
  const plain = words.replace(POWER, (_, power) => `10${raised(power)}`);
  return WRITTEN.reduce((text, [form, written]) => text.replace(form, written), words === '1' ? '' : plain);
}
