/** Writes words and amounts for doses in a language. Pure. */
import { fillWording } from '#src/clinical/reading/wording.ts';
import { conceptText, listItems, readMembers, readText } from '../fields.ts';
import type { WordLanguage } from '../names/code-words.ts';
import { decimalText, formatDecimal } from '../numbers/decimal.ts';
import { quantityText } from '../numbers/quantity.ts';
import { ar } from './dose-texts/ar.ts';
import { de } from './dose-texts/de.ts';
import type { DoseTextKey, DoseTexts } from './dose-texts/dose-texts.ts';
import { en } from './dose-texts/en.ts';
import { es } from './dose-texts/es.ts';
import { fr } from './dose-texts/fr.ts';
import { nb } from './dose-texts/nb.ts';

const TEXTS = { en, de, fr, es, nb, ar } as const satisfies Readonly<Record<WordLanguage, DoseTexts>>;

/** How doses are written. */
export interface DoseStyle {
  readonly lang: WordLanguage;
  /** Returns a FHIR date in words; default: the date as written. */
  readonly day?: (date: string) => string;
  /** Returns a CodeableConcept's name; default: its text, otherwise a display or code. */
  readonly name?: (concept: unknown) => string | undefined;
}

/** A number in a text: the value that selects the plural form, and the number as written (`1 to 2`). */
export interface Count {
  readonly count: number;
  readonly shown: string;
}

/** Values for placeholders. The number `n` selects a plural form. */
interface Values {
  readonly [name: string]: string | Count | undefined;
  readonly n?: Count;
}

/**
 * Returns a text with its placeholders filled in. A plural form that omits the number is used only if the number is exactly
 * one or two.
 */
export function word({ lang }: DoseStyle, key: DoseTextKey, { n, ...values }: Values = {}): string {
  const fill = (count: number | undefined): string =>
    fillWording<unknown>(TEXTS[lang][key], { ...values, n: count }, lang, () => n?.shown ?? '').join('');
  const text = fill(n?.count);
  if (n === undefined || text.includes(n.shown)) return text;
  const isExact = [1, 2].includes(n.count) && Number(n.shown) === n.count;
  return isExact ? text : fill(FEW);
}

/** A number for which every language's plural form includes the number. */
const FEW = 3;

/** Spellings of dose forms in addition to the words in all languages: HL7's codes, UCUM, and common spellings. */
const SPELLINGS = {
  tablet: 'tab tabs tbl tabl tablette tabletten pill pills',
  capsule: 'cap caps kaps',
  drop: 'drp gtt gtts',
  puff: 'actuat actuation actuations inhalation inhalations inhal',
  spray: 'spry',
  patch: 'ptch tpatch',
  suppository: 'supp',
  sachet: 'packet packets pkt pckt',
  ampoule: 'amp ampul ampule ampules',
  vial: '',
  injection: 'inj',
  application: 'applic appl',
  teaspoon: 'tsp tsp_us',
  tablespoon: 'tbsp tbs_us',
  unit: 'u',
  unitdose: '',
} as const satisfies Readonly<Partial<Record<DoseTextKey, string>>>;

type Form = keyof typeof SPELLINGS;

function isForm(key: string): key is Form {
  return Object.hasOwn(SPELLINGS, key);
}

const FORMS: ReadonlyMap<string, Form> = new Map(
  Object.entries(SPELLINGS).flatMap(([form, spellings]): [string, Form][] => {
    if (!isForm(form)) return [];
    const words = Object.values(TEXTS).flatMap((texts) =>
      [...texts[form].matchAll(/:# ([^|}]+)/g)].map(([, each = '']) => each.toLowerCase()),
    );
    return [...words, ...spellings.split(' ')].filter((each) => each !== '').map((each) => [each, form]);
  }),
);

/** Returns the dose form that a word in any language names; undefined for other words. */
export function readForm(spelling: string): string | undefined {
  return FORMS.get(spelling.toLowerCase());
}

/** Returns the dose form if an amount counts units of that form, such as tablets; undefined if the amount is measured. */
export function findForm(quantity: unknown): Form | undefined {
  const { unit, code } = readMembers(quantity);
  return [unit, code]
    .map((each) =>
      (readText(each) ?? '')
        .toLowerCase()
        .replace(/\(s\)$/, '')
        .replace(/[{}[\]()]/g, ''),
    )
    .map((each) => FORMS.get(each))
    .find((form) => form !== undefined);
}

/** Returns a number, or a range from one number to another; undefined if both are missing. */
export function writeCount(style: DoseStyle, low: unknown, high?: unknown): Count | undefined {
  const [from, to] = [decimalText(low), decimalText(high)];
  const { lang } = style;
  if (from !== undefined && to !== undefined && from !== to) {
    const shown = word(style, 'span', { from: formatDecimal(from, lang), to: formatDecimal(to, lang) });
    return { count: Number(to), shown };
  }
  const one = from ?? to;
  if (one === undefined) return undefined;
  const number = formatDecimal(one, lang);
  return { count: Number(one), shown: from === undefined ? word(style, 'upto', { to: number }) : number };
}

/** Returns a language's comma or semicolon, followed by a space. */
export function separator({ lang }: Pick<DoseStyle, 'lang'>, sign: ',' | ';'): string {
  return `${lang === 'ar' ? (sign === ',' ? '،' : '؛') : sign} `;
}

/** Returns an amount with all its digits: `2 tablets`, `2.5 mg`, `dose 1`. If it has no number, returns it as stored. */
export function amountText(style: DoseStyle, quantity: unknown): string {
  const { value, comparator, unit, code } = readMembers(quantity);
  const n = writeCount(style, value);
  const form = findForm(quantity);
  if (n === undefined) return storedText(style, quantity);
  if (comparator === undefined) {
    if (form !== undefined) return word(style, form, { n });
    if ([unit, code].every((each) => (readText(each) ?? '1') === '1'))
      return word(style, 'bare', { number: n.shown });
  }
  return quantityText(quantity, {}, { lang: style.lang, exact: true }) ?? storedText(style, quantity);
}

/** Returns a range between amounts: `1 to 2 tablets`. */
export function amountRange(style: DoseStyle, range: unknown): string {
  const { low, high } = readMembers(range);
  if (high === undefined) return word(style, 'atleast', { from: amountText(style, low) });
  if (low === undefined) return word(style, 'upto', { to: amountText(style, high) });
  const [first, last] = [low, high].map(readMembers);
  const isAlike =
    findForm(low) === findForm(high) &&
    (readText(first?.unit) ?? readText(first?.code)) === (readText(last?.unit) ?? readText(last?.code));
  const form =
    isAlike && first?.comparator === undefined && last?.comparator === undefined ? findForm(low) : undefined;
  const n = form === undefined ? undefined : writeCount(style, first?.value, last?.value);
  if (form !== undefined && n !== undefined) return word(style, form, { n });
  return word(style, 'span', { from: amountText(style, low), to: amountText(style, high) });
}

/** Units of time that there are words for, by UCUM code. */
export const TIMES = ['s', 'min', 'h', 'd', 'wk', 'mo', 'a'] as const;

/** A unit of time, as a UCUM code. */
export type TimeUnit = (typeof TIMES)[number];

/** Returns the unit of time that a code means; undefined for other units. */
export function timeUnit(code: unknown): TimeUnit | undefined {
  return TIMES.find((each) => each === code);
}

/** Returns a length of time in words: `3 days`, or `5 to 7 days` with a second number. */
export function lengthText(style: DoseStyle, unit: TimeUnit, low: unknown, high?: unknown): string {
  const n = writeCount(style, low, high);
  return n === undefined ? '' : word(style, `length${unit}`, { n });
}

/** Returns a Duration in words, or as an amount. */
export function durationText(style: DoseStyle, duration: unknown): string {
  const { value, code, unit, comparator } = readMembers(duration);
  const time = timeUnit(code) ?? timeUnit(unit);
  const isPlain = time !== undefined && comparator === undefined && decimalText(value) !== undefined;
  return isPlain ? lengthText(style, time, value) : amountText(style, duration);
}

function nameConceptIn({ name }: DoseStyle, concept: unknown): string | undefined {
  return conceptText(concept) === undefined ? undefined : (name?.(concept) ?? conceptText(concept));
}

/** Returns a value as stored, so that nothing is lost: members with their names, and list items separated by commas. */
export function storedText(style: DoseStyle, value: unknown): string {
  if (Array.isArray(value)) return value.map((each) => storedText(style, each)).join(', ');
  const named = nameConceptIn(style, value);
  if (named !== undefined) return named;
  const members = Object.entries(readMembers(value)).map(
    ([name, each]) => `${name}: ${storedText(style, each)}`,
  );
  if (members.length > 0) return `(${members.join(', ')})`;
  const plain = readText(value) ?? decimalText(value);
  return plain ?? (typeof value === 'object' ? '' : String(value));
}

/**
 * Returns the members that have no words, as stored.
 * @param told names of the members that have words
 */
export function storedRest(style: DoseStyle, value: unknown, told: readonly string[]): string[] {
  return Object.entries(readMembers(value))
    .filter(([name, each]) => name !== 'id' && !told.includes(name) && each !== undefined)
    .map(([name, each]) => `${name}: ${storedText(style, each)}`);
}

/**
 * Returns the words for a coded concept, followed by the author's text if it says more.
 * @param known the words for the concept's code
 */
export function codedText(style: DoseStyle, concept: unknown, known: string | undefined): string {
  if (known === undefined) return nameConceptIn(style, concept) ?? storedText(style, concept);
  const { text, coding } = readMembers(concept);
  const said = readText(text);
  const same = [known, ...listItems(coding).flatMap((each) => Object.values(readMembers(each)).map(String))];
  const isMore = said !== undefined && !same.some((each) => each.toLowerCase().includes(said.toLowerCase()));
  return isMore ? `${known} (${said})` : known;
}
