/**
 * Describes in words how a medicine is taken, from R4's Dosage (https://hl7.org/fhir/R4/dosage.html). The author's text comes
 * first and isn't translated; the structured dose follows if it says more. No part is dropped: a part for which there are no
 * words is printed as stored. Pure.
 */

import { listItems, readMembers, readText } from '../fields.ts';
import { decimalText } from '../numbers/decimal.ts';
import { ratioText } from '../numbers/quantity.ts';
import type { DoseTextKey } from './dose-texts/dose-texts.ts';
import {
  amountRange,
  amountText,
  codedText,
  type DoseStyle,
  durationText,
  separator,
  storedRest,
  storedText,
  timeUnit,
  word,
} from './dose-words.ts';
import { timingWords } from './timing.ts';

/** Routes that have words, by SNOMED CT code and by HL7's RouteOfAdministration code. */
const ROUTES: Readonly<Record<string, DoseTextKey>> = {
  26643006: 'mouth',
  PO: 'mouth',
  47625008: 'vein',
  IV: 'vein',
  78421000: 'muscle',
  IM: 'muscle',
  34206005: 'underskin',
  SQ: 'underskin',
  SC: 'underskin',
  372464004: 'intoskin',
  6064005: 'onskin',
  45890007: 'onskin',
  TOPICAL: 'onskin',
  447694001: 'inhaled',
  ORINHL: 'inhaled',
  IPINHL: 'inhaled',
  37839007: 'undertongue',
  SL: 'undertongue',
  37161004: 'rectum',
  PR: 'rectum',
  16857009: 'vagina',
  46713006: 'nose',
  NASINHL: 'nose',
  54485002: 'eye',
  OPTHALTA: 'eye',
  10547007: 'ear',
  OTIC: 'ear',
};

/** Returns the word for a route's code; undefined if there is none. */
export function findRoute(route: unknown): DoseTextKey | undefined {
  return listItems(readMembers(route).coding)
    .map((coding) => String(readMembers(coding).code))
    .flatMap((code) => (Object.hasOwn(ROUTES, code) ? (ROUTES[code] ?? []) : []))
    .at(0);
}

function routeText(style: DoseStyle, route: unknown): string {
  const key = findRoute(route);
  return codedText(style, route, key === undefined ? undefined : word(style, key));
}

/** Returns a dose's rate. If it has no number, returns it as stored. */
function rateText(style: DoseStyle, rate: Readonly<Record<string, unknown>>): string {
  const { rateRatio, rateRange, rateQuantity } = rate;
  const rates = [
    ...listItems(rateRatio).map(
      (each) => ratioText(each, { lang: style.lang, exact: true }) ?? storedText(style, each),
    ),
    ...listItems(rateRange).map((each) => amountRange(style, each)),
    ...listItems(rateQuantity).map((each) => amountText(style, each)),
  ];
  return rates.length === 0 ? '' : word(style, 'rate', { rate: rates.join(' / ') });
}

/** Returns a dose's amounts; there may be several, for example one that was ordered and one that was calculated. */
function dosesText(style: DoseStyle, doses: readonly unknown[]): string {
  return doses
    .map((dose) => {
      const members = readMembers(dose);
      const { type, doseQuantity, doseRange } = members;
      const kinds = listItems(readMembers(type).coding).map((coding) => readMembers(coding).code);
      // In an order, every dose is an ordered one, so the text needn't say so.
      const isPlain = type === undefined || (doses.length === 1 && kinds.includes('ordered'));
      const kind = isPlain
        ? ''
        : codedText(style, type, kinds.includes('calculated') ? word(style, 'calculated') : undefined);
      const amount = [
        doseQuantity === undefined ? '' : amountText(style, doseQuantity),
        doseRange === undefined ? '' : amountRange(style, doseRange),
        rateText(style, members),
        ...storedRest(style, dose, [
          'type',
          'doseQuantity',
          'doseRange',
          'rateRatio',
          'rateRange',
          'rateQuantity',
        ]),
      ];
      return `${join(amount, ' ')}${kind === '' ? '' : ` (${kind})`}`.trim();
    })
    .filter((part) => part !== '')
    .join(' / ');
}

function join(parts: readonly string[], by: string): string {
  return parts.filter((part) => part !== '').join(by);
}

/** Returns the maximum that may be taken in a period. */
function mostText(style: DoseStyle, most: unknown): string {
  const { numerator, denominator } = readMembers(most);
  const { value, code, unit } = readMembers(denominator);
  const isTime = (timeUnit(code) ?? timeUnit(unit)) !== undefined && decimalText(value) !== undefined;
  if (numerator === undefined || !isTime)
    return `≤ ${ratioText(most, { lang: style.lang, exact: true }) ?? storedText(style, most)}`;
  const amount = amountText(style, numerator);
  return word(style, 'mostin', { amount, duration: durationText(style, denominator) });
}

/** Dosage members that aren't written in words. */
const TEXTS = ['id', 'sequence', 'text', 'patientInstruction'];
/** Dosage members that are written in words. */
const TOLD = [
  ...TEXTS,
  ...['additionalInstruction', 'timing', 'asNeededBoolean'],
  ...['asNeededCodeableConcept', 'site', 'route', 'method', 'doseAndRate', 'maxDosePerPeriod'],
  ...['maxDosePerAdministration', 'maxDosePerLifetime'],
];

/**
 * Returns that a medicine is taken as needed, and why, unless another part already says it.
 * @param others the parts before it
 */
function neededText(style: DoseStyle, why: unknown, isNeeded: boolean, others: readonly string[]): string {
  if (why !== undefined) return reasonText(style, storedText(style, why));
  return isNeeded && !others.some((part) => saysNeeded(style, part)) ? word(style, 'asneeded') : '';
}

/** Returns why a medicine is taken as needed: `as needed: pain`. The reason may already say “as needed”. */
export function reasonText(style: DoseStyle, reason: string): string {
  return saysNeeded(style, reason) ? reason : word(style, 'reason', { reason });
}

function saysNeeded(style: DoseStyle, part: string): boolean {
  return part.toLowerCase().includes(word(style, 'asneeded').toLowerCase());
}

/** Writes a Dosage's elements in words, without the author's text. */
function structuredText(style: DoseStyle, dosage: Readonly<Record<string, unknown>>): string {
  const {
    doseAndRate,
    timing,
    additionalInstruction,
    asNeededBoolean,
    asNeededCodeableConcept: why,
  } = dosage;
  const { maxDosePerPeriod, maxDosePerAdministration, maxDosePerLifetime, site, route, method } = dosage;
  const doses = listItems(doseAndRate);
  const amount = dosesText(style, doses);
  const { rhythm: said, details } = timingWords(timing, style);
  const instructions = listItems(additionalInstruction).map((each) => storedText(style, each));
  const needed = neededText(style, why, asNeededBoolean === true, [said, ...instructions]);
  // The code PRN, or an instruction, may say the same.
  const plain = word(style, 'asneeded').toLowerCase();
  const isSaid = (part: string): boolean => needed !== '' && part.toLowerCase() === plain;
  const rhythm = isSaid(said) ? '' : said;
  const isBare = amount === '' || /[)\d]$/.test(amount);
  const comma = separator(style, ',');
  return join(
    [
      join([amount, rhythm], isBare ? comma : ' '),
      ...instructions.filter((each) => !isSaid(each)),
      needed,
      route === undefined ? '' : routeText(style, route),
      site === undefined ? '' : storedText(style, site),
      method === undefined ? '' : storedText(style, method),
      ...details,
      maxDosePerPeriod === undefined ? '' : mostText(style, maxDosePerPeriod),
      maxDosePerAdministration === undefined
        ? ''
        : word(style, 'mostonce', { amount: amountText(style, maxDosePerAdministration) }),
      maxDosePerLifetime === undefined
        ? ''
        : word(style, 'mostever', { amount: amountText(style, maxDosePerLifetime) }),
      ...storedRest(style, dosage, TOLD),
    ],
    comma,
  );
}

/** Returns whether a text contains all words and numbers of another. */
function says(text: string, other: string): boolean {
  const words = (each: string): string[] => each.toLowerCase().match(/[\p{L}\p{M}\d.%]+/gu) ?? [];
  const own = new Set(words(text));
  return words(other).every((each) => own.has(each));
}

/** Returns one Dosage in words. */
function dosageText(dosage: unknown, style: DoseStyle): string {
  const members = readMembers(dosage);
  const [text, instruction] = [readText(members.text), readText(members.patientInstruction)];
  const isTwice = text !== undefined && instruction !== undefined && says(text, instruction);
  const author = join([text ?? '', isTwice ? '' : (instruction ?? '')], '. ').replace(/\.\. /g, '. ');
  const isText = Object.keys(members).every((name) => TEXTS.includes(name));
  const structured = isText ? '' : structuredText(style, members);
  if (author === '') return structured;
  return structured === '' || says(author, structured) ? author : `${author} (${structured})`;
}

/**
 * Returns dosages in words; undefined if there are none. Dosages with the same sequence number are taken at the same time, and
 * are joined; later dosages follow after "then".
 */
export function dosesInWords(dosages: unknown, style: DoseStyle): string | undefined {
  const steps = new Map<number, string[]>();
  for (const each of listItems(dosages)) {
    const step = Number(decimalText(readMembers(each).sequence) ?? 0);
    const text = dosageText(each, style);
    if (text !== '') steps.set(step, [...(steps.get(step) ?? []), text]);
  }
  const [first, ...others] = [...steps]
    .sort(([a], [b]) => a - b)
    .map(([, texts]) => texts.join(separator(style, ';')));
  if (first === undefined) return undefined;
  // An author's text may already say "then", possibly in a language other than the reader's.
  const next = others.map((step) => (SAYS_NEXT.test(step) ? step : `${word(style, 'next')} ${step}`));
  return [first, ...next].join(separator(style, ';'));
}

/** Matches the text of a further step that already begins with a word for "then". */
const SAYS_NEXT =
  /^(?:then|thereafter|afterwards|dann|danach|anschließend|puis|ensuite|después|luego|deretter|ثم)(?![\p{L}\p{M}])/iu;
