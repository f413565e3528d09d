/** Presents synthetic records to the plausibility rules. */
import { REGISTER } from '#src/sandbox/people.ts';
import type { Authored, SyntheticData } from '#src/sandbox/synthetic.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';

/** A rule's finding, as a text that names the resource. */
export type Fault = string;

/** One rule. */
export interface Rule {
  readonly says: string;
  readonly check: (view: View) => Fault[];
}

/** Returns a rule that checks each record. */
export function eachRecord(says: string, check: (record: RecordView, view: View) => Fault[]): Rule {
  return { says, check: (view) => view.records.flatMap((record) => check(record, view)) };
}

/** Returns a rule that checks each resource of one type, or of all types. */
export function eachResource(
  says: string,
  type: string | undefined,
  check: (resource: JsonObject, record: RecordView, view: View) => Fault[],
): Rule {
  return eachRecord(says, (record, view) =>
    record
      .of(type)
      .flatMap((resource) => check(resource, record, view).map((fault) => `${nameOf(resource)}: ${fault}`)),
  );
}

/** Returns a resource's `Type/id`. */
export const nameOf = (resource: JsonObject): string =>
  `${String(resource.resourceType)}/${String(resource.id)}`;

/** A measured value. */
export interface Value {
  readonly code: string;
  readonly value: number;
  readonly unit: string;
  /** ms since 1970 */
  readonly at: number;
  readonly name: string;
}

/** One record. */
export class RecordView {
  readonly resources: readonly JsonObject[];
  readonly patient: JsonObject;
  readonly birth: number;
  readonly death: number | undefined;
  readonly number: string | undefined;
  readonly #values: readonly Value[];
  readonly #byCode = new Map<string, Value[]>();
  readonly #byName: ReadonlyMap<string, JsonObject>;

  constructor(readonly authored: readonly Authored[]) {
    this.resources = authored.map(({ resource }) => resource);
    this.patient = this.of('Patient')[0] ?? {};
    this.birth = Date.parse(String(this.patient.birthDate));
    const { deceasedDateTime: died } = this.patient;
    this.death = typeof died === 'string' ? Date.parse(died) : undefined;
    this.number = numberOf(this.patient);
    this.#byName = new Map(this.resources.map((resource) => [nameOf(resource), resource]));
    this.#values = this.of('Observation')
      .flatMap(valuesOf)
      .sort((a, b) => a.at - b.at);
    for (const value of this.#values) {
      const same = this.#byCode.get(value.code);
      if (same === undefined) this.#byCode.set(value.code, [value]);
      else same.push(value);
    }
  }

  /** Returns the resource that a reference points to. */
  find(reference: string | undefined): JsonObject | undefined {
    return this.#byName.get(reference ?? '');
  }

  /** Returns the resources of a type. */
  of(type: string | undefined): JsonObject[] {
    return this.resources.filter((resource) => type === undefined || resource.resourceType === type);
  }

  /** Returns the age in years at a given time. */
  age(at: number): number {
    return (at - this.birth) / YEAR_MS;
  }

  /** Returns measured values, including components, oldest first. */
  values(code?: string): readonly Value[] {
    return code === undefined ? this.#values : (this.#byCode.get(code) ?? []);
  }

  /** Returns the start of the earliest treatment with a substance whose ATC code begins with `atc`. */
  treatedSince(atc: string): number | undefined {
    const starts = this.of('MedicationStatement')
      .filter((statement) =>
        codesIn(statement.medicationCodeableConcept).some((code) => code.startsWith(atc)),
      )
      .map((statement) => Date.parse(textAt(statement, 'effectivePeriod', 'start') ?? ''));
    return starts.length === 0 ? undefined : Math.min(...starts);
  }

  /** Returns whether any diagnosis has a code that begins with the given ICD-10 code. */
  has(icd: string): boolean {
    return this.of('Condition').some(({ code }) => codesIn(code).some((one) => one.startsWith(icd)));
  }
}

/** A sandbox's records and directory. */
export class View {
  readonly records: readonly RecordView[];
  readonly directory: ReadonlyMap<string, JsonObject>;

  constructor(
    readonly data: SyntheticData,
    /** `YYYY-MM-DD` */
    readonly today: string,
  ) {
    this.records = data.records.map(({ resources }) => new RecordView(resources));
    this.directory = new Map(data.directory.map(({ resource }) => [nameOf(resource), resource]));
  }

  /** Returns midnight at the start of today, in ms. */
  get now(): number {
    return Date.parse(this.today);
  }

  /** Returns every resource with its author. */
  get all(): readonly Authored[] {
    return [...this.data.directory, ...this.data.records.flatMap(({ resources }) => resources)];
  }
}

/** A year, ms. */
export const YEAR_MS = 365.25 * 86_400_000;
/** A day, ms. */
export const DAY_MS = 86_400_000;

/** Returns the text at a path of keys; for a list, the first item is used. */
export function textAt(value: Json | undefined, ...path: readonly string[]): string | undefined {
  let here: Json | undefined = value;
  for (const key of path) {
    if (Array.isArray(here)) [here] = here;
    here = isObject(here) ? here[key] : undefined;
  }
  if (Array.isArray(here)) [here] = here;
  return typeof here === 'string' ? here : undefined;
}

/** Returns a CodeableConcept's codes. */
export function codesIn(concept: Json | undefined): string[] {
  return codingsIn(concept).map(({ code }) => code);
}

/** Returns a CodeableConcept's codings. */
export function codingsIn(concept: Json | undefined): { system: string; code: string; display: string }[] {
  const codings = isObject(concept) && Array.isArray(concept.coding) ? concept.coding : [];
  return codings.filter(isObject).map(({ system, code, display }) => ({
    system: String(system),
    code: String(code),
    display: String(display),
  }));
}

/** Returns a person's number in the hospital's register. */
export function numberOf(person: JsonObject): string | undefined {
  const { identifier } = person;
  const own = (Array.isArray(identifier) ? identifier : [])
    .filter(isObject)
    .find(({ system }) => system === REGISTER);
  return own === undefined ? undefined : String(own.value);
}

/** Visits every object in a resource, starting with itself. */
export function walk(value: Json | undefined, visit: (object: JsonObject) => void): void {
  if (Array.isArray(value)) for (const item of value) walk(item, visit);
  else if (isObject(value)) {
    visit(value);
    for (const item of Object.values(value)) walk(item, visit);
  }
}

/** A date or time with its element. */
export interface Dated {
  readonly element: string;
  /** ms since 1970 */
  readonly at: number;
  readonly text: string;
}

const DATE = /^\d{4}-\d\d-\d\d(T|$)/;

/** Cached, because several rules need the dates. */
const dates = new WeakMap<JsonObject, readonly Dated[]>();

/** Returns a resource's dates and times with their elements, except the patient's date of birth. */
export function datesOf(resource: JsonObject): readonly Dated[] {
  const known = dates.get(resource);
  if (known !== undefined) return known;
  const found: Dated[] = [];
  dates.set(resource, found);
  walk(resource, (object) => {
    for (const [element, value] of Object.entries(object)) {
      if (element === 'birthDate' || typeof value !== 'string' || !DATE.test(value)) continue;
      found.push({ element, at: Date.parse(value), text: value });
    }
  });
  return found;
}

function valuesOf(observation: JsonObject): Value[] {
  const { component } = observation;
  const parts = [observation, ...(Array.isArray(component) ? component.filter(isObject) : [])];
  const at = Date.parse(String(observation.effectiveDateTime));
  return parts.flatMap(({ code, valueQuantity: quantity }) =>
    isObject(quantity)
      ? [
          {
            code: codesIn(code)[0] ?? '',
            value: Number(quantity.value),
            unit: String(quantity.code),
            at,
            name: nameOf(observation),
          },
        ]
      : [],
  );
}
