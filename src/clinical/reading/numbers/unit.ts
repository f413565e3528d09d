/** Units as people write them, from UCUM codes (https://ucum.org/ucum): for reading only, the record keeps the code. Pure. */

/** Annotations and spellings that say what a number is, which its name says too: `{score}`, `[pH]`. */
const UNSAID =
  /^(?:1|\[?pH\]?|[{(](?:score|scores|nominal|ratio|index|INR|units?|number|n|count|#|phenotype|pH|rating|SG|\{?nominal\}?)[)}])$/i;

/** Returns whether a unit says nothing that the name of the value doesn't say. */
export function isUnsaid(unit: string): boolean {
  return UNSAID.test(unit);
}

/** Things that are counted, whose names a rate doesn't need: `{beats}/min` is written /min. */
const COUNTED = /\{(?:beats?|breaths?|heartbeats?|counts?|events?|#|score|ratio|index|INR)\}/gi;

/** Common spellings for codes that people would not recognize. */
const WRITTEN: readonly (readonly [RegExp, string])[] = [
  [/\[degF\]/g, '°F'],
  [/\bCel\b|\bdegC\b/g, '°C'],
  [/m\[H2O\]/g, 'mH₂O'],
  [/m\[Hg\]/g, 'mHg'],
  [/\[lb_av\]/g, 'lb'],
  [/\[oz_av\]/g, 'oz'],
  [/\[in_i\]/g, 'in'],
  [/\[ft_i\]/g, 'ft'],
  [/\[HPF\]/gi, 'HPF'],
  [/\[LPF\]/gi, 'LPF'],
  [/\[drp\]/g, 'drops'],
  [/\[iU\]/gi, 'IU'],
  [/\[arb'U\]/gi, 'AU'],
  [/\[([A-Za-z]+)'U\]/g, '$1 U'],
  [/\[ppm\]|\[ppmv\]/g, 'ppm'],
  [/\bmeq\b/g, 'mEq'],
  [/\bu(?=(?:g|L|l|m|mol|kat|Ci|eq|Eq|U|V)(?:\b|\d)|IU)/g, 'µ'],
];

/** 10 to a power: 10*3 is written 10³. */
const POWER = /10(?:\*|\^)(-?\d+)/g;
const raise = (power: string): string => power.replace(/[-\d]/g, (sign) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(sign)] ?? '⁻');
/** Squares and cubes of lengths: kg/m2, 1.73m2. */
const AREA = /(\d)?(?<![A-Za-z])([munpckd]?m)([23])(?![\dA-Za-z])/g;

const written = new Map<string, string>();
/** The maximum number of cached units: some hundreds are in use, and clients may invent any number. */
const REMEMBERED = 1_000;

/** Returns a unit. Annotations stand for words (`{copies}/mL`), or are left out where the name says the same (`{score}`). */
export function unitText(code: string): string {
  const known = written.get(code);
  if (known !== undefined) return known;
  if (written.size >= REMEMBERED) written.clear();
  const text = writeUnit(code);
  written.set(code, text);
  return text;
}

function writeUnit(code: string): string {
  const unit = code.trim();
  if (isUnsaid(unit)) return '';
  const words = unit
    .replace(COUNTED, '')
    .replace(
      /([\w%\]])?\{([^{}]*)\}/g,
      (_, before: string | undefined, word: string) =>
        `${before === undefined ? '' : `${before} `}${word.replaceAll('_', ' ')}`,
    );
  const plain = words.replace(POWER, (_, power: string) => `10${raise(power)}`);
  return WRITTEN.reduce((text, [form, written]) => text.replace(form, written), plain)
    .replace(
      AREA,
      (_, number: string | undefined, length: string, power: string) =>
        `${number === undefined ? '' : `${number} `}${length}${raise(power)}`,
    )
    .trim();
}
