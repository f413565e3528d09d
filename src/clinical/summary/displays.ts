/** Finds displays for codes that a record stores without text, because readers can't understand narratives with bare codes. */
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import type { Steps } from '#src/shared/load/slices.ts';
import { objects, text } from '../../fhir/parts.ts';
import type { SystemCode } from '../../fhir/terminology.ts';
import { type Chosen, lookupIn } from './choose.ts';
import type { Look } from './columns.ts';
import type { Source, Stored } from './source.ts';

/** Maps `system|code` to a display. */
export type Displays = ReadonlyMap<string, string>;

/**
 * Returns a function that looks up the target of a reference in everything that a summary may show, from the record and the
 * directory.
 */
export function lookingIn(chosen: Chosen, inDirectory: Look): Look {
  return (reference) => {
    const key = chosen.links.localKey(reference);
    return key === undefined ? undefined : (chosen.look(key) ?? inDirectory(key));
  };
}

/** Returns the codes that have no text but that a summary's narratives may have to show, without duplicates; in steps. */
export function* codesWithoutDisplay(chosen: Chosen, directory: readonly Stored[]): Steps<SystemCode[]> {
  const look = lookingIn(chosen, lookupIn(directory));
  const sources = new Set([
    ...chosen.sections.flatMap((section) => [...section.sources, ...section.beside]),
    ...chosen.earlier.values(),
  ]);
  const referred = new Set<string>();
  for (const source of sources) {
    chosen.links.addReferred(source, referred);
    yield;
  }
  for (const key of referred) {
    const source = look(key);
    yield;
    if (source !== undefined) sources.add(source);
  }
  const found = new Map<string, SystemCode>();
  for (const { value, replaced = [] } of sources) {
    addBare(value, found);
    for (const each of replaced) addBare(each.value, found);
    yield;
  }
  return [...found.values()];
}

/** Returns the codes that have no text in the given values, without duplicates. */
export function bareCodes(values: readonly Json[]): SystemCode[] {
  const found = new Map<string, SystemCode>();
  for (const value of values) addBare(value, found);
  return [...found.values()];
}

function addBare(value: Json, found: Map<string, SystemCode>): void {
  if (Array.isArray(value)) for (const item of value) addBare(item, found);
  else if (isObject(value)) {
    if (isBare(value)) {
      for (const { system, code } of objects(value.coding)) {
        if (typeof system === 'string' && typeof code === 'string')
          found.set(`${system}|${code}`, { system, code });
      }
    }
    for (const member of Object.values(value)) addBare(member, found);
  }
}

/** Returns whether a CodeableConcept has codes but no text. */
function isBare(value: JsonObject): boolean {
  if (value.coding === undefined || text(value.text) !== undefined) return false;
  return objects(value.coding).every(({ display }) => text(display) === undefined);
}

/** Returns a resource in which codes without text have displays, for narratives. Its JSON text (`body`) is unchanged. */
export function withDisplays<Of extends Pick<Source, 'value' | 'replaced'>>(
  source: Of,
  displays: Displays,
): Of {
  if (displays.size === 0) return source;
  const value = addDisplays(source.value, displays);
  if (value === source.value && source.replaced === undefined) return source;
  const replaced = source.replaced?.map((each) => withDisplays(each, displays));
  return { ...source, value: value as JsonObject, ...(replaced === undefined ? {} : { replaced }) };
}

/** Returns a value with displays added, or the same object if no display was added, which is the usual case. */
function addDisplays(value: Json, displays: Displays): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    let items: Json[] | undefined;
    for (let n = 0; n < value.length; n += 1) {
      const item = value[n] ?? null;
      const after = addDisplays(item, displays);
      if (after !== item) {
        items ??= [...value];
        items[n] = after;
      }
    }
    return items ?? value;
  }
  if (!isObject(value)) return value;
  let copy: JsonObject | undefined;
  for (const name in value) {
    const member = value[name] ?? null;
    if (typeof member !== 'object') continue;
    const after = addDisplays(member, displays);
    if (after !== member) {
      copy ??= { ...value };
      copy[name] = after;
    }
  }
  if (!isBare(value)) return copy ?? value;
  const codings = objects(value.coding);
  const shown = codings.map((coding) => withDisplay(coding, displays));
  return shown.some((coding, n) => coding !== codings[n])
    ? { ...(copy ?? value), coding: shown }
    : (copy ?? value);
}

function withDisplay(coding: JsonObject, displays: Displays): JsonObject {
  const display = displays.get(`${text(coding.system)}|${text(coding.code)}`);
  return display === undefined ? coding : { ...coding, display };
}
