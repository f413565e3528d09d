/**
 * What a search finds an element by, per FHIR type and type of parameter: https://hl7.org/fhir/R4/search.html#ptypes
 * Elements come from stored resources, which are valid R4.
 */
import { isEnumerated, valueSet } from '../definitions/tables.ts';
import { referenceForm, tokenForm, uriForm } from './keys.ts';
import type { Path } from './paths.ts';
import { type Period, parsePeriod } from './period.ts';

/** Before and after all moments: the ends of a Period that has none. */
export const BEGINNING_OF_TIME = -4e18;
/** See `BEGINNING_OF_TIME`. */
export const END_OF_TIME = 4e18;

/** A quantity, or a range of them: decimal texts or `-Infinity` and `Infinity`, both ends included. */
export interface QuantityValue {
  readonly low: string;
  readonly high: string;
  readonly system: string | null;
  readonly code: string | null;
  readonly unit: string | null;
}

type Element = Readonly<Record<string, unknown>>;

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function each(value: unknown): Element[] {
  return [value].flat().filter((item): item is Element => typeof item === 'object' && item !== null);
}

function texts(...values: readonly unknown[]): string[] {
  return values.flat().filter((value): value is string => typeof value === 'string' && value !== '');
}

/** The forms of a token: see `tokenForm`. */
export function tokenForms(element: unknown, { type, binding }: Path): string[] {
  if (type === 'CodeableConcept') return each((element as Element).coding).flatMap(codingForms);
  if (typeof element === 'boolean') {
    return pairForms('http://terminology.hl7.org/CodeSystem/special-values', String(element));
  }
  if (typeof element === 'string') {
    const systems = type === 'code' && binding !== undefined ? systemsOf(binding, element) : [];
    return systems.length === 0
      ? pairForms('', element)
      : [...new Set(systems.flatMap((system) => pairForms(system, element)))];
  }
  if (type === 'Coding') return codingForms(element as Element);
  if (type === 'Identifier') return identifierForms(element as Element);
  if (type === 'ContactPoint') return pairForms('', text((element as Element).value));
  return [];
}

/** One boolean of all that a path leads to. */
export function truthForms(elements: readonly unknown[]): string[] {
  const truth = elements.some((element) => element !== false);
  return pairForms('http://terminology.hl7.org/CodeSystem/special-values', String(truth));
}

function codingForms({ system, code }: Element): string[] {
  return pairForms(text(system) ?? '', text(code));
}

function pairForms(system: string, code: string | undefined): string[] {
  if (code === undefined) return system === '' ? [] : [tokenForm.system(system)];
  const forms = [tokenForm.code(code), tokenForm.pair(system, code)];
  return system === '' ? forms : [...forms, tokenForm.system(system)];
}

function identifierForms(identifier: Element): string[] {
  const value = text(identifier.value);
  const forms = pairForms(text(identifier.system) ?? '', value);
  if (value === undefined) return forms;
  const types = each((identifier.type as Element | undefined)?.coding);
  return [
    ...forms,
    ...types.map((type) => tokenForm.ofType(text(type.system) ?? '', text(type.code) ?? '', value)),
  ];
}

/** The systems of a required value set that have a code: a `code` element's system is implied. */
function systemsOf(binding: string, code: string): string[] {
  if (!isEnumerated(binding)) return [];
  return Object.entries(valueSet(binding)).flatMap(([system, codes]) =>
    codes.includes(code) ? [system] : [],
  );
}

const LITERAL = /^(?:[A-Za-z]+\/)?([A-Za-z0-9.-]{1,64})$/;
const VERSION = /\/_history\/[^/]*$/;

/** The forms of a reference or canonical: see `referenceForm`. Those of its identifier are apart. */
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

/** Forms of the identifier in a reference, for `:identifier`. */
export function logicalForms(element: unknown): string[] {
  if (typeof element === 'string') return [];
  const { identifier } = element as Element;
  return each(identifier).flatMap(identifierForms);
}

/** The form of a uri. */
export function uriForms(element: unknown): string[] {
  return texts(element).map(uriForm);
}

/** What a date parameter compares with; undefined for an element that says nothing of time. */
export function periodOf(element: unknown, { type }: Path): Period | undefined {
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

/** Only the outer limits of a Timing count. */
function timing({ event, repeat }: Element): Period | undefined {
  const bounds = periodElement(((repeat as Element | undefined)?.boundsPeriod as Element | undefined) ?? {});
  const periods = texts(event).map(parsePeriod).concat(bounds);
  const known = periods.filter((period) => period !== undefined);
  if (known.length === 0) return undefined;
  return {
    from: Math.min(...known.map(({ from }) => from)),
    to: Math.max(...known.map(({ to }) => to)),
  };
}

/** What a quantity parameter compares with; undefined for an element without a number. */
export function quantityOf(element: unknown, { type }: Path): QuantityValue | undefined {
  const quantity = element as Element;
  if (type === 'Range') {
    const [low, high] = [each(quantity.low)[0], each(quantity.high)[0]];
    if (low?.value === undefined && high?.value === undefined) return undefined;
    return {
      ...unitOf(low ?? high ?? {}),
      low: decimal(low?.value) ?? '-Infinity',
      high: decimal(high?.value) ?? 'Infinity',
    };
  }
  if (type === 'SampledData') return undefined;
  const value = decimal(quantity.value);
  if (value === undefined) return undefined;
  const { comparator } = quantity;
  const open = typeof comparator === 'string' ? comparator : '';
  return {
    ...unitOf(quantity),
    low: open.startsWith('<') ? '-Infinity' : value,
    high: open.startsWith('>') ? 'Infinity' : value,
  };
}

function unitOf({ system, code, unit }: Element): Pick<QuantityValue, 'system' | 'code' | 'unit'> {
  return { system: text(system) ?? null, code: text(code) ?? null, unit: text(unit) ?? null };
}

function decimal(value: unknown): string | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined;
}

/** The texts that a string parameter compares with. */
export function stringsOf(element: unknown, { type }: Path): string[] {
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
