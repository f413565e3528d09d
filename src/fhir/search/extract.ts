/** Extracts all values by which searches can find a resource. */
import type { Steps } from '#src/shared/load/slices.ts';
import type { ResourceType } from '../types.ts';
import type { CompiledParameter, Part } from './compiled-parameter.ts';
import type { ContainedResources } from './contained.ts';
import type { Path } from './expressions.ts';
import { PRESENT, pairForm, referenceForm, soundForm, uriForm } from './keys.ts';
import { compiledParameters, elementsAt, isSortedByText } from './paths.ts';
import type { Period } from './period.ts';
import { listSounds } from './phonetic.ts';
import { type Ends, sortText } from './sorts.ts';
import {
  anyTrue,
  type Coded,
  logicalForms,
  type QuantityValue,
  readCoded,
  readLabels,
  readPeriod,
  readPosition,
  readQuantity,
  readStrings,
  readTarget,
  readUris,
  referenceForms,
  tokenForms,
  truthForms,
} from './values.ts';

/** A search parameter's code and one of its values. */
export interface Found<V> {
  readonly code: string;
  readonly value: V;
  /** For composites: one of the codes that the value belongs to. A value with several codes is listed once per code. */
  readonly about?: Coded;
}

/** The values of all of a resource's parameters. */
export interface SearchValues {
  /** Forms (`keys.ts`) of tokens, references and URIs, plus `PRESENT` for every parameter that has a value. */
  readonly forms: readonly Found<string>[];
  readonly strings: readonly Found<string>[];
  readonly periods: readonly Found<Period>[];
  readonly quantities: readonly Found<QuantityValue>[];
  /** Ids in references to any type, without duplicates. */
  readonly targets: ReadonlySet<string>;
  /** The text by which tokens and references are sorted, by code. */
  readonly sorts: ReadonlyMap<string, Ends>;
}

/** The suffix added to a reference parameter's code to store the forms of logical identifiers. */
export const LOGICAL = ':identifier';
/** The suffix added to a parameter's code to store the text that `:text` searches. */
export const LABEL = ':text';
/** The suffixes added to `near` to store a position's latitude and longitude in degrees. */
export const [LATITUDE, LONGITUDE] = [':latitude', ':longitude'];

/** The possible targets of a resource's references to contained resources. */
export interface Within {
  readonly contained: ContainedResources;
  /** The resource that contains them, such as `Patient/5`: the target of `#`. */
  readonly container: string;
}

/** The values collected so far. */
interface Values {
  readonly within: Within | undefined;
  readonly forms: Found<string>[];
  readonly strings: Found<string>[];
  readonly periods: Found<Period>[];
  readonly quantities: Found<QuantityValue>[];
  readonly targets: Set<string>;
  readonly sorts: Map<string, Ends>;
}

/** The number of elements read in one step. */
const STEP = 200;

/**
 * Extracts a resource's search values, in steps, because the resource may have tens of thousands of elements.
 * @param resource its parsed JSON; valid R4.
 * @param within the targets of its references to contained resources; if absent, these references have no targets.
 */
export function* extract(type: ResourceType, resource: unknown, within?: Within): Steps<SearchValues> {
  const values: Values = {
    within,
    forms: [],
    strings: [],
    periods: [],
    quantities: [],
    targets: new Set(),
    sorts: new Map(),
  };
  for (const parameter of compiledParameters(type)) {
    const { code, paths, stored } = parameter;
    // The parameter's values are stored under other codes.
    if (stored[0] !== code) continue;
    if (parameter.type === 'composite') {
      addPairs(values, parameter, resource);
      yield;
    } else if (paths[0]?.truth === true) {
      const all = paths.flatMap((path) => elementsAt(resource, path));
      for (const value of truthForms(all)) values.forms.push({ code, value });
      addSort(values, code, String(anyTrue(all)));
      values.forms.push({ code, value: PRESENT });
    } else {
      let present = false;
      for (const path of paths) {
        const elements = elementsAt(resource, path.about?.base ?? path);
        for (let from = 0; from < elements.length; from += STEP) {
          if (from > 0) yield;
          const some = elements.length > STEP ? elements.slice(from, from + STEP) : elements;
          present = addAll(values, parameter, path, some) || present;
        }
      }
      if (present) values.forms.push({ code, value: PRESENT });
    }
  }
  return values;
}

/**
 * Adds the values of the elements at a path; if the path has a base, of the elements at that base.
 * @returns whether there are any.
 */
function addAll(
  values: Values,
  parameter: CompiledParameter,
  path: Path,
  elements: readonly unknown[],
): boolean {
  const { about } = path;
  if (about === undefined) {
    for (const element of elements) add(values, parameter, path, element);
    return elements.length > 0;
  }
  let present = false;
  for (const base of elements) {
    const inBase = elementsAt(base, about.values);
    if (inBase.length === 0) continue;
    present = true;
    const codes = about.codes.flatMap((each) =>
      elementsAt(base, each).flatMap((code) => readCoded(code, each)),
    );
    for (const element of inBase) add(values, parameter, path, element, codes);
  }
  return present;
}

/** Adds a value, once for each code that it belongs to. */
function push<V>(all: Found<V>[], code: string, value: V, codes: readonly Coded[]): void {
  if (codes.length === 0) all.push({ code, value });
  else for (const about of codes) all.push({ code, value, about });
}

function add(
  values: Values,
  parameter: CompiledParameter,
  path: Path,
  element: unknown,
  codes: readonly Coded[] = [],
): void {
  const { code, type } = parameter;
  if (isSortedByText(parameter)) addSort(values, code, sortText(parameter.type as 'token', element, path));
  switch (type) {
    case 'token':
      for (const value of tokenForms(element, path)) values.forms.push({ code, value });
      for (const value of readLabels(element, path)) values.strings.push({ code: code + LABEL, value });
      break;
    case 'reference': {
      const target = readTarget(element);
      if (target !== undefined) values.targets.add(target);
      for (const value of referenceForms(element)) values.forms.push({ code, value });
      for (const value of containedForms(element, values.within)) values.forms.push({ code, value });
      for (const value of logicalForms(element)) values.forms.push({ code: code + LOGICAL, value });
      for (const value of readLabels(element, path)) values.strings.push({ code: code + LABEL, value });
      break;
    }
    case 'uri':
      for (const value of readUris(element, path)) {
        values.forms.push({ code, value: uriForm(value) });
        // URIs are also stored as strings, for `:below`.
        values.strings.push({ code, value });
      }
      break;
    case 'string':
      if (parameter.sounds === true) {
        const sounds = readStrings(element, path).flatMap(listSounds).flat();
        for (const sound of new Set(sounds)) values.forms.push({ code, value: soundForm(sound) });
      } else for (const value of readStrings(element, path)) push(values.strings, code, value, codes);
      break;
    case 'date': {
      const value = readPeriod(element, path);
      if (value !== undefined) push(values.periods, code, value, codes);
      break;
    }
    case 'quantity': {
      const value = readQuantity(element, path);
      if (value !== undefined) push(values.quantities, code, value, codes);
      break;
    }
    case 'special': {
      const { latitude, longitude } = readPosition(element);
      values.quantities.push({ code: code + LATITUDE, value: number(latitude) });
      values.quantities.push({ code: code + LONGITUDE, value: number(longitude) });
      break;
    }
  }
}

/** Updates the first and last sort text stored for a code. */
function addSort({ sorts }: Values, code: string, text: string | undefined): void {
  if (text === undefined) return;
  const ends = sorts.get(code);
  if (ends === undefined) sorts.set(code, { first: text, last: text });
  else if (text < ends.first) ends.first = text;
  else if (text > ends.last) ends.last = text;
}

/** Returns the form of a reference to a contained resource, or from a contained resource to its container. */
function containedForms(element: unknown, within: Within | undefined): string[] {
  if (within === undefined || typeof element === 'string') return [];
  const { reference } = element as { readonly reference?: unknown };
  if (typeof reference !== 'string' || !reference.startsWith('#')) return [];
  if (reference === '#') return [referenceForm.relative(within.container)];
  const found = within.contained.get(reference.slice(1));
  return found === undefined ? [] : [referenceForm.contained(found.rowId)];
}

function number(text: string): QuantityValue {
  return { low: text, high: text, system: null, code: null, unit: null, canonical: null };
}

/**
 * Maximum number of a composite's pairs by which a resource is found; later pairs are ignored. Two codings result in nine
 * pairs; a body full of codings, half of them in each part, would result in more pairs than fit in the service's memory.
 */
export const MOST_PAIRS = 50_000;

/**
 * In each base, adds every pair of a form of the first part and a form of the second. If the second part is ordered, its
 * values are stored with the first part's codes instead (`About`).
 */
function addPairs({ forms }: Values, { code, paths, composite }: CompiledParameter, resource: unknown): void {
  if (composite === undefined || composite.ordered) return;
  let left = MOST_PAIRS;
  for (const [at, parts] of composite.bases.entries()) {
    const path = paths[at];
    for (const base of path === undefined ? [] : elementsAt(resource, path)) {
      const seconds = partForms(base, parts[1], composite.parts[1]);
      if (seconds.length === 0) continue;
      for (const first of partForms(base, parts[0], composite.parts[0])) {
        for (const second of seconds) {
          if (left === 0) return;
          left -= 1;
          forms.push({ code, value: pairForm(first, second) });
        }
      }
    }
  }
}

function partForms(base: unknown, paths: readonly Path[], { type }: Part): string[] {
  return paths.flatMap((path) =>
    elementsAt(base, path).flatMap((element) =>
      type === 'reference' ? referenceForms(element) : tokenForms(element, path),
    ),
  );
}
