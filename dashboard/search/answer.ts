/** Reads the Bundle that a search returns, for display as a table. */
import { parseDigits } from '../indent.ts';

/** A resource from the Bundle, in words; members are empty where the resource has no value. */
export interface Row {
  readonly type: string;
  readonly id: string;
  readonly lastUpdated: string;
  /** True if the resource isn't a match, but was included with a match. */
  readonly isIncluded: boolean;
  readonly what: string;
  readonly status: string;
  readonly date: string;
  readonly value: string;
}

/** A page of results. */
export interface Found {
  readonly rows: readonly Row[];
  /** Undefined if matches weren't counted. */
  readonly total: string | undefined;
  /** URLs of the next and previous pages. */
  readonly next: string | undefined;
  readonly previous: string | undefined;
  /** Notes from the service about the search, such as a parameter that it ignored. */
  readonly notes: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

interface Entry {
  readonly resource?: Json;
  readonly search?: { readonly mode?: string };
}

interface Bundle {
  readonly total?: string;
  readonly link?: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly Entry[];
}

/**
 * Elements that say what a resource is, its state, its date and its value. For each, the first element that the resource has
 * is shown.
 */
const WHAT = [
  'code',
  'medicationCodeableConcept',
  'medicationReference',
  'vaccineCode',
  'name',
  'title',
  'type',
  'description',
  'specialty',
  'activity',
];
const STATUS = ['clinicalStatus', 'status', 'lifecycleStatus', 'active'];
const DATE = [
  ...['effectiveDateTime', 'effectivePeriod', 'effectiveInstant', 'performedDateTime', 'performedPeriod'],
  ...['occurrenceDateTime', 'onsetDateTime', 'onsetPeriod', 'authoredOn', 'period', 'birthDate', 'recorded'],
  ...['recordedDate', 'startDate', 'dateAsserted', 'issued', 'date', 'created'],
];
const VALUE = [
  ...['valueQuantity', 'valueCodeableConcept', 'valueString', 'valueInteger', 'valueBoolean', 'valueRange'],
  ...['valueRatio', 'valueDateTime', 'valuePeriod', 'valueTime', 'dosage', 'dosageInstruction'],
];

/**
 * Reads a Bundle.
 * @param text its JSON
 */
export function readFound(text: string): Found {
  const { total, link = [], entry = [] } = parseDigits(text) as Bundle;
  const urlOf = (relation: string) => link.find((each) => each.relation === relation)?.url;
  const isNote = ({ search }: Entry): boolean => search?.mode === 'outcome';
  return {
    rows: entry.filter((each) => !isNote(each)).map(readRow),
    total,
    next: urlOf('next'),
    previous: urlOf('previous'),
    notes: entry.filter(isNote).flatMap(({ resource }) => listNotes(resource)),
  };
}

function listNotes(outcome: Json | undefined): string[] {
  const issues = (outcome?.issue ?? []) as readonly { readonly diagnostics?: string }[];
  return issues.flatMap(({ diagnostics }) => diagnostics ?? []);
}

function readRow({ resource = {}, search }: Entry): Row {
  const first = (names: readonly string[]): string =>
    write(names.map((name) => resource[name]).find((each) => each !== undefined));
  const { lastUpdated } = (resource.meta ?? {}) as Json;
  const components = (resource.component ?? []) as readonly Json[];
  return {
    type: write(resource.resourceType),
    id: write(resource.id),
    lastUpdated: write(lastUpdated),
    isIncluded: search?.mode === 'include',
    what: first(WHAT),
    status: first(STATUS),
    date: first(DATE),
    value: first(VALUE) || components.map((each) => write(each.valueQuantity)).join(', '),
  };
}

/** Returns a value of any data type as text; if there are several values, only the first. */
function write(value: unknown): string {
  if (Array.isArray(value)) return write(value[0]);
  if (typeof value !== 'object' || value === null) return String(value ?? '');
  const { text, coding, display, family, given, start, end, comparator, ...has } = value as Json;
  const { value: number, unit, code, reference, low, high } = has;
  if (text !== undefined) return write(text);
  if (coding !== undefined) return write(coding);
  if (family !== undefined || given !== undefined) return join([...[given ?? []].flat(), family], ' ');
  if (start !== undefined || end !== undefined) return `${write(start)} – ${write(end)}`;
  if (low !== undefined || high !== undefined) return `${write(low)} – ${write(high)}`;
  if (number !== undefined) return `${write(comparator)}${join([number, unit ?? code], ' ')}`;
  return write(display ?? code ?? reference);
}

function join(parts: readonly unknown[], by: string): string {
  return parts
    .map(write)
    .filter((part) => part !== '')
    .join(by);
}
