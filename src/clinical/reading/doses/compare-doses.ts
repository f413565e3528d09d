/**
 * Compares two entries' dosages of a medicine. If the dosages can't be compared with certainty, the result is `unclear`; for
 * example tablets and milligrams, or two different texts. Pure. https://hl7.org/fhir/R4/dosage.html
 */
import { listItems, readMembers, readText } from '../fields.ts';
import { decimalText } from '../numbers/decimal.ts';
import { compareDaily, compareDoseTexts, countDaily, type DoseComparison } from './compare-texts.ts';
import { dosesInWords, findRoute } from './dose.ts';
import { findForm, timeUnit } from './dose-words.ts';
import { readRhythm } from './timing.ts';

/** Dosage members that contain the author's text, and members that don't say how the medicine is taken. */
const TEXTS: ReadonlySet<string> = new Set(['id', 'sequence', 'text', 'patientInstruction']);
/** Timing.repeat members that say for how long the medicine is taken, rather than how. */
const BOUNDS: ReadonlySet<string> = new Set(['boundsPeriod', 'boundsDuration', 'boundsRange']);

/**
 * Compares dosages.
 * @param isSameProduct false if the entries name different products, because their tablets may differ
 */
export function compareDoses(one: unknown, other: unknown, isSameProduct: boolean): DoseComparison {
  const [own, those] = [listItems(one), listItems(other)];
  if (isSameProduct && isSameJson(own, those)) return 'same';
  const left = [...those];
  const unlike = own.filter((each) => {
    const at = left.findIndex((that) => compareDosage(each, that, isSameProduct) === 'same');
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  if (unlike.length === 0 && left.length === 0) return 'same';
  const isAlone = unlike.length === 1 && left.length === 1;
  return isAlone
    ? compareDosage(unlike[0], left[0], isSameProduct)
    : compareTotals(own, those, isSameProduct);
}

function isSameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Compares the total amount per day, because two dosages together can be the same as a single one. */
function compareTotals(
  one: readonly unknown[],
  other: readonly unknown[],
  isSameProduct: boolean,
): DoseComparison {
  const [own, those] = [addUp(one, isSameProduct), addUp(other, isSameProduct)];
  if (own === undefined || those === undefined || own.kind !== those.kind) return 'unclear';
  return compareDaily(own.value, those.value) === 'other' ? 'other' : 'unclear';
}

function addUp(dosages: readonly unknown[], isSameProduct: boolean): Amount | undefined {
  let total: Amount | undefined;
  for (const each of dosages) {
    const { doseAndRate, timing, sequence, asNeededBoolean, asNeededCodeableConcept } = readMembers(each);
    const amount = readAmount(doseAndRate, isSameProduct);
    const daily = readDaily(timing);
    const isOpen = asNeededBoolean === true || asNeededCodeableConcept !== undefined;
    // The steps of a sequence follow one another, so a tapering dosage has no total.
    if (amount === undefined || daily === undefined || isOpen || Number(decimalText(sequence) ?? 1) > 1)
      return undefined;
    if (total !== undefined && total.kind !== amount.kind) return undefined;
    total = { kind: amount.kind, value: (total?.value ?? 0) + amount.value * daily };
  }
  return total;
}

/** Compares one dosage with another. */
function compareDosage(one: unknown, other: unknown, isSameProduct: boolean): DoseComparison {
  const [a, b] = [readMembers(one), readMembers(other)];
  const isText = (members: Readonly<Record<string, unknown>>): boolean =>
    Object.keys(members).every((name) => TEXTS.has(name));
  if (isText(a) || isText(b)) {
    const [own, that] = [inWords(one), inWords(other)];
    const compared = own === '' || that === '' ? 'unclear' : compareDoseTexts(own, that);
    return isSameProduct ? compared : 'unclear';
  }
  const amount = compareAmounts(a.doseAndRate, b.doseAndRate, isSameProduct);
  const parts = [
    amount,
    compareTimings(a.timing, b.timing),
    compareNeeds(a, b),
    compareRoutes(a.route, b.route),
  ];
  if (parts.includes('other')) return 'other';
  if (parts.every((part) => part === 'same') && isSameJson(readRest(a), readRest(b))) return 'same';
  return isSameProduct && fold(inWords(one)) === fold(inWords(other)) ? 'same' : 'unclear';
}

function inWords(dosage: unknown): string {
  return dosesInWords([dosage], { lang: 'en' }) ?? '';
}

const fold = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ');

/** Returns the members that aren't compared one by one, and the author's text. */
function readRest(members: Readonly<Record<string, unknown>>): readonly unknown[] {
  const { text, patientInstruction, additionalInstruction, site, method } = members;
  const { maxDosePerPeriod, maxDosePerAdministration, maxDosePerLifetime } = members;
  const words = [text, patientInstruction].map((each) => fold(readText(each) ?? ''));
  return [
    ...words,
    ...[additionalInstruction, site, method, maxDosePerPeriod, maxDosePerAdministration, maxDosePerLifetime],
  ];
}

/** An amount in a comparable unit. */
interface Amount {
  readonly kind: string;
  readonly value: number;
}

/** Converts units of mass to grams, and units of volume to litres. */
const FACTORS: Readonly<Record<string, readonly [kind: string, factor: number]>> = {
  kg: ['g', 1_000],
  g: ['g', 1],
  mg: ['g', 1e-3],
  mcg: ['g', 1e-6],
  ug: ['g', 1e-6],
  µg: ['g', 1e-6],
  μg: ['g', 1e-6],
  ng: ['g', 1e-9],
  l: ['l', 1],
  dl: ['l', 0.1],
  ml: ['l', 1e-3],
};
/** Kinds of amounts that don't depend on the product. */
const ABSOLUTE: ReadonlySet<string> = new Set(['g', '[iu]', 'iu']);

/**
 * Returns the amount of a single dose; undefined if there are no amounts or several, or if the amount depends on the product.
 */
function readAmount(doseAndRate: unknown, isSameProduct: boolean): Amount | undefined {
  const [dose, ...others] = listItems(doseAndRate).map(readMembers);
  const { doseQuantity, ...rest } = dose ?? {};
  if (others.length > 0 || Object.keys(rest).some((name) => name !== 'id' && name !== 'type'))
    return undefined;
  const { value, comparator, unit, code } = readMembers(doseQuantity);
  const number = decimalText(value);
  if (number === undefined || comparator !== undefined) return undefined;
  const name = (readText(code) ?? readText(unit) ?? '').toLowerCase();
  const [kind, factor] = Object.hasOwn(FACTORS, name) ? (FACTORS[name] ?? ['', 1]) : ['', 1];
  const own = kind === '' ? (findForm(doseQuantity) ?? name) : kind;
  return isSameProduct || ABSOLUTE.has(own) ? { kind: own, value: Number(number) * factor } : undefined;
}

function compareAmounts(one: unknown, other: unknown, isSameProduct: boolean): DoseComparison {
  if (isSameProduct && isSameJson(one, other)) return 'same';
  const [own, that] = [readAmount(one, isSameProduct), readAmount(other, isSameProduct)];
  if (own === undefined || that === undefined || own.kind !== that.kind) return 'unclear';
  const isSame = Math.abs(own.value - that.value) <= 1e-9 * Math.max(own.value, that.value);
  return isSame ? 'same' : 'other';
}

/**
 * Timing.repeat members that make a dosage more specific: if only one of two dosages has such a member, the two don't
 * contradict each other.
 */
const MOMENTS = ['dayOfWeek', 'timeOfDay', 'when'] as const;

/** Returns how many times per day something is taken; undefined if it isn't a fixed number. */
function readDaily(timing: unknown): number | undefined {
  const { code, repeat, event } = readMembers(timing);
  if (event !== undefined) return undefined;
  const { frequency, frequencyMax, period, periodMax, periodUnit, dayOfWeek, count, ...rest } =
    readMembers(repeat);
  const coded = listItems(readMembers(code).coding)
    .map((coding) => readText(readMembers(coding).code))
    .concat(readText(readMembers(code).text))
    .flatMap((each) => (each === undefined ? [] : [readRhythm(each)]))
    .find((each) => each !== undefined);
  const unit = timeUnit(periodUnit);
  const often = Number(decimalText(frequency) ?? 1);
  const length = Number(decimalText(period));
  const days = new Set(listItems(dayOfWeek)).size;
  if (frequencyMax !== undefined || periodMax !== undefined || count !== undefined) return undefined;
  if (period === undefined || unit === undefined) {
    const times = new Set(listItems(rest.timeOfDay)).size;
    if (coded !== undefined && frequency === undefined && days === 0) return countDaily(coded);
    if (frequency !== undefined || rest.when !== undefined || times === 0) return undefined;
    return (times * (days || 7)) / 7;
  }
  if (!(length > 0 && often > 0)) return undefined;
  const daily = countDaily([often, length, unit]);
  return days > 0 && unit === 'd' && length === 1 ? (daily * days) / 7 : daily;
}

function compareTimings(one: unknown, other: unknown): DoseComparison {
  const [a, b] = [withoutBounds(one), withoutBounds(other)];
  if (isSameJson(a, b)) return 'same';
  const [own, that] = [readDaily(one), readDaily(other)];
  const rhythm = own === undefined || that === undefined ? 'unclear' : compareDaily(own, that);
  if (rhythm === 'other') return 'other';
  const [left, right] = [readMembers(a.repeat), readMembers(b.repeat)];
  let isSame = true;
  for (const name of MOMENTS) {
    const [here, there] = [left, right].map((repeat) => listItems(repeat[name]).map(String).sort());
    if (isSameJson(here, there)) continue;
    if (here?.length !== 0 && there?.length !== 0) return 'other';
    isSame = false;
  }
  return isSame ? rhythm : 'unclear';
}

function withoutBounds(timing: unknown): Readonly<Record<string, unknown>> {
  const { repeat, ...rest } = readMembers(timing);
  const kept = Object.entries(readMembers(repeat)).filter(([name]) => !BOUNDS.has(name));
  return { ...rest, repeat: Object.fromEntries(kept) };
}

/** Compares whether the medicine is taken only as needed. */
function compareNeeds(
  one: Readonly<Record<string, unknown>>,
  other: Readonly<Record<string, unknown>>,
): DoseComparison {
  const [a, b] = [one, other].map(
    ({ asNeededBoolean, asNeededCodeableConcept: why }) => asNeededBoolean === true || why !== undefined,
  );
  if (a === b)
    return isSameJson(one.asNeededCodeableConcept, other.asNeededCodeableConcept) ? 'same' : 'unclear';
  // The author's text may also say whether it is taken as needed.
  const isTold = [one, other].some(
    ({ text, patientInstruction }) => (text ?? patientInstruction) !== undefined,
  );
  return isTold ? 'unclear' : 'other';
}

function compareRoutes(one: unknown, other: unknown): DoseComparison {
  if (isSameJson(one, other)) return 'same';
  const [a, b] = [findRoute(one), findRoute(other)];
  if (a === undefined || b === undefined) return 'unclear';
  return a === b ? 'same' : 'other';
}
