/**
 * Reads the values by which a search finds an element, for each FHIR type and parameter type:
 * https://hl7.org/fhir/R4/search.html#ptypes. The elements come from stored resources, which are valid R4.
 */
import { isLosslessNumber } from 'lossless-json';
import { isEnumerated, valueSet } from '../definitions/tables.ts';
import { canonicalRange, nextTo, UCUM } from '../units/canonical.ts';
import type { Path } from './expressions.ts';
import { referenceForm, tokenForm } from './keys.ts';
import { type Period, parsePeriod } from './period.ts';

/** A time before all others, for a Period without a start. */
export const BEGINNING_OF_TIME = -4e18;
/** A time after all others, for a Period without an end. */
export const END_OF_TIME = 4e18;

/** A quantity, or a range of quantities. Each end is inclusive, and is decimal text, `-Infinity` or `Infinity`. */
export interface QuantityValue {
  readonly low: string;
  readonly high: string;
  readonly system: string | null;
  readonly code: string | null;
  readonly unit: string | null;
  /** The same quantity or range in canonical UCUM units; null if the unit isn't valid UCUM or belongs to another system. */
  readonly canonical: { readonly dimension: string; readonly low: string; readonly high: string } | null;
}

/** A code in a system; an empty `system` means that the code has no system. */
export interface Coded {
  readonly system: string;
  readonly code?: string | undefined;
}

type Element = Readonly<Record<string, unknown>>;

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isElement(value: unknown): value is Element {
  return typeof value === 'object' && value !== null;
}

const NONE: readonly Element[] = [];

function each(value: unknown): readonly Element[] {
  if (!Array.isArray(value)) return isElement(value) ? [value] : NONE;
  return value.every(isElement) ? value : value.filter(isElement);
}

function texts(...values: readonly unknown[]): string[] {
  const found: string[] = [];
  for (const value of values) {
    if (Array.isArray(value)) {
      for (const one of value) if (typeof one === 'string' && one !== '') found.push(one);
    } else if (typeof value === 'string' && value !== '') found.push(value);
  }
  return found;
}

/** Returns the forms of a token (see `tokenForm`), possibly with duplicates. */
export function tokenForms(element: unknown, path: Path): string[] {
  const forms: string[] = [];
  for (const coded of readCoded(element, path)) pushForms(forms, coded);
  return path.type === 'Identifier' ? forms.concat(ofTypeForms(element as Element)) : forms;
}

const SPECIAL_VALUES = 'http://terminology.hl7.org/CodeSystem/special-values';

/** Returns the codes in a token. */
export function readCoded(element: unknown, { type, binding }: Path): Coded[] {
  if (typeof element === 'boolean') return [{ system: SPECIAL_VALUES, code: String(element) }];
  if (typeof element === 'string') {
    const systems = type === 'code' && binding !== undefined ? bindingSystems(binding, element) : [];
    return (systems.length === 0 ? [''] : systems).map((system) => ({ system, code: element }));
  }
  const parts = element as Element;
  switch (type) {
    case 'CodeableConcept':
      return each(parts.coding).map(readCoding);
    case 'Coding':
      return [readCoding(parts)];
    case 'Identifier':
      return [{ system: text(parts.system) ?? '', code: text(parts.value) }];
    case 'ContactPoint':
      return [{ system: '', code: text(parts.value) }];
    default:
      return [];
  }
}

function readCoding({ system, code }: Element): Coded {
  return { system: text(system) ?? '', code: text(code) };
}

/** Returns whether any element at a path is true. */
export function anyTrue(elements: readonly unknown[]): boolean {
  return elements.some((element) => element !== false);
}

/** Returns the forms of a single boolean: whether any element at a path is true. */
export function truthForms(elements: readonly unknown[]): string[] {
  const forms: string[] = [];
  pushForms(forms, { system: SPECIAL_VALUES, code: String(anyTrue(elements)) });
  return forms;
}

function pushForms(forms: string[], { system, code }: Coded): void {
  if (code !== undefined) forms.push(tokenForm.code(code), tokenForm.pair(system, code));
  if (system !== '') forms.push(tokenForm.system(system));
}

function ofTypeForms(identifier: Element): string[] {
  const value = text(identifier.value);
  if (value === undefined) return [];
  return each((identifier.type as Element | undefined)?.coding).map((type) =>
    tokenForm.ofType(text(type.system) ?? '', text(type.code) ?? '', value),
  );
}

/** Returns the text that `:text` searches: the text that accompanies a token's codes, or a reference's display. */
export function readLabels(element: unknown, { type }: Path): readonly string[] {
  if (!isElement(element)) return NO_TEXTS;
  switch (type) {
    case 'CodeableConcept': {
      const labels = new Set(texts(element.text));
      for (const { display } of each(element.coding)) if (typeof display === 'string') labels.add(display);
      return [...labels];
    }
    case 'Coding':
    case 'Reference':
      return element.display === undefined ? NO_TEXTS : texts(element.display);
    case 'Identifier':
      return texts((element.type as Element | undefined)?.text);
    default:
      return NO_TEXTS;
  }
}

const NO_TEXTS: readonly string[] = [];

const systems = new Map<string, ReadonlyMap<string, readonly string[]>>();

/**
 * Returns the systems in a required value set that contain the given code. They are needed because the system of a `code`
 * element is implied.
 */
function bindingSystems(binding: string, code: string): readonly string[] {
  let known = systems.get(binding);
  if (known === undefined) {
    known = systemsByCode(binding);
    systems.set(binding, known);
  }
  return known.get(code) ?? [];
}

function systemsByCode(binding: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  if (!isEnumerated(binding)) return found;
  for (const [system, codes] of Object.entries(valueSet(binding))) {
    for (const code of codes) found.set(code, [...(found.get(code) ?? []), system]);
  }
  return found;
}

const LITERAL = /^(?:[A-Za-z]+\/)?([A-Za-z0-9.-]{1,64})$/;
const VERSION = /\/_history\/[^/]*$/;

/** Returns the forms of a reference or canonical (see `referenceForm`), except the forms of its identifier (`logicalForms`). */
export function referenceForms(element: unknown): string[] {
  if (typeof element === 'string') {
    const [url = ''] = element.split('|');
    return url === element
      ? [referenceForm.url(element)]
      : [referenceForm.url(element), referenceForm.url(url)];
  }
  const reference = text((element as Element).reference);
  if (reference === undefined || reference.startsWith('#')) return [];
  const whole = reference.replace(VERSION, '');
  const [, id] = LITERAL.exec(whole) ?? [];
  const form = id === undefined ? referenceForm.url : referenceForm.relative;
  return [
    form(whole),
    ...(whole === reference ? [] : [form(reference)]),
    ...(id === undefined ? [] : [referenceForm.id(id)]),
  ];
}

/** Returns the id at the end of a reference, which may be relative or a URL. */
export function readTarget(element: unknown): string | undefined {
  if (typeof element === 'string') return undefined;
  const reference = text((element as Element).reference);
  return reference === undefined ? undefined : /([^/#:]+)$/.exec(reference.replace(VERSION, ''))?.[1];
}

const IDENTIFIER: Path = { steps: [], type: 'Identifier' };

/** Returns the forms of the identifier in a reference, for `:identifier`. */
export function logicalForms(element: unknown): string[] {
  if (typeof element === 'string') return [];
  const { identifier } = element as Element;
  return each(identifier).flatMap((item) => tokenForms(item, IDENTIFIER));
}

/** Returns the URIs by which an element is found: a canonical with a version is also found by its URL without the version. */
export function readUris(element: unknown, { type }: Pick<Path, 'type'>): string[] {
  if (typeof element !== 'string' || element === '') return [];
  const version = type === 'canonical' ? element.indexOf('|') : -1;
  return version < 1 ? [element] : [element, element.slice(0, version)];
}

/** Returns the period that a date parameter is compared with; undefined for an element without a date. */
export function readPeriod(element: unknown, { type }: Path): Period | undefined {
  if (type === 'Period') return periodElement(element as Element);
  if (type === 'Timing') return timing(element as Element);
  if (type !== 'date' && type !== 'dateTime' && type !== 'instant') return undefined;
  return typeof element === 'string' ? parsePeriod(element) : undefined;
}

function periodElement({ start, end }: Element): Period | undefined {
  const first = parsePeriod(text(start) ?? '');
  const last = parsePeriod(text(end) ?? '');
  if (first === undefined && last === undefined) return undefined;
  return { from: first?.from ?? BEGINNING_OF_TIME, to: last?.to ?? END_OF_TIME };
}

/** Returns the period from the earliest to the latest time in a Timing. */
function timing({ event, repeat }: Element): Period | undefined {
  const bounds = periodElement(((repeat as Element | undefined)?.boundsPeriod as Element | undefined) ?? {});
  const periods = texts(event).map(parsePeriod).concat(bounds);
  const known = periods.filter((period) => period !== undefined);
  if (known.length === 0) return undefined;
  return {
    from: known.reduce((least, { from }) => Math.min(least, from), Infinity),
    to: known.reduce((most, { to }) => Math.max(most, to), -Infinity),
  };
}

/** Returns the value that a quantity parameter is compared with; undefined for an element without a number. */
export function readQuantity(element: unknown, { type }: Path): QuantityValue | undefined {
  const quantity = element as Element;
  if (type === 'SampledData') return undefined;
  if (type === 'Range') return readRange(quantity);
  const value = decimal(quantity.value);
  if (value === undefined) return undefined;
  const open = text(quantity.comparator) ?? '';
  const low = open.startsWith('<') ? '-Infinity' : value;
  const high = open.startsWith('>') ? 'Infinity' : value;
  const unit = readUnit(quantity);
  const canonical = toCanonical(unit, low, high);
  return { ...unit, ...leaveOut(open, { low, high }), canonical: canonical && leaveOut(open, canonical) };
}

/** Excludes the end of a range if the comparator does: `<5` doesn't include 5, so `ge5` doesn't find it. */
function leaveOut<T extends Pick<QuantityValue, 'low' | 'high'>>(comparator: string, range: T): T {
  if (comparator === '<') return { ...range, high: nextTo(range.high, -1n) };
  return comparator === '>' ? { ...range, low: nextTo(range.low, 1n) } : range;
}

function readRange(range: Element): QuantityValue | undefined {
  const [first, last] = [each(range.low)[0], each(range.high)[0]];
  const [from, to] = [decimal(first?.value), decimal(last?.value)];
  if (from === undefined && to === undefined) return undefined;
  const [unit, other] = [readUnit(first ?? last ?? {}), readUnit(last ?? first ?? {})];
  const low = from ?? '-Infinity';
  const high = to ?? 'Infinity';
  const [bottom, top] = [toCanonical(unit, low, low), toCanonical(other, high, high)];
  // Each end is converted from its own unit.
  const canonical =
    bottom !== null && bottom.dimension === top?.dimension ? { ...bottom, high: top.high } : null;
  return { ...unit, low, high, canonical };
}

function readUnit({ system, code, unit }: Element): Pick<QuantityValue, 'system' | 'code' | 'unit'> {
  return { system: text(system) ?? null, code: text(code) ?? null, unit: text(unit) ?? null };
}

function toCanonical(
  { system, code }: Pick<QuantityValue, 'system' | 'code'>,
  low: string,
  high: string,
): QuantityValue['canonical'] {
  return system === UCUM && code !== null ? (canonicalRange(code, low, high) ?? null) : null;
}

/**
 * The largest power of ten that is stored. PostgreSQL's `numeric` goes up to 10^131,071, so converting units can't exceed its
 * range.
 */
const LARGEST_POWER = 9_999;

/** Returns decimal text for PostgreSQL's `numeric`. Numbers beyond the largest power are treated as infinity or zero. */
function decimal(value: unknown): string | undefined {
  if (isLosslessNumber(value)) {
    const [text, sign = '', digits = '', exponent = '0'] =
      /^(-?)([\d.]+)(?:e([+-]?\d+))?$/i.exec(value.value) ?? [];
    if (text === undefined) return undefined;
    if (Math.abs(Number(exponent)) <= LARGEST_POWER) return text;
    return Number(exponent) < 0 || /^[0.]+$/.test(digits) ? '0' : `${sign}Infinity`;
  }
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined;
}

/** Returns the latitude and longitude of a Location's position, in degrees. */
export function readPosition(element: unknown): { readonly latitude: string; readonly longitude: string } {
  const { latitude, longitude } = element as Element;
  return { latitude: degrees(latitude), longitude: degrees(longitude) };
}

/** Returns a number that PostgreSQL can use in `float8` calculations; 0 for numbers that aren't finite. */
function degrees(value: unknown): string {
  const number = Number(decimal(value) ?? '0');
  return Number.isFinite(number) ? String(number) : '0';
}

/** Returns the strings that a string parameter is compared with. */
export function readStrings(element: unknown, { type }: Path): string[] {
  if (typeof element === 'string') return texts(element);
  const parts = element as Element;
  if (type === 'HumanName') {
    return texts(parts.text, parts.family, parts.given, parts.prefix, parts.suffix);
  }
  if (type === 'Address') {
    const { line, city, district, state, postalCode, country } = parts;
    return texts(parts.text, line, city, district, state, postalCode, country);
  }
  return [];
}
