/** Checks codes against a profile's bindings: https://hl7.org/fhir/R4/terminologies.html#strength */
import { isObject, type Json } from '#src/shared/json/json.ts';
import { asArray } from '../validation/walk.ts';
import type { Item } from './items.ts';
import { profileValueSet } from './table.ts';

const sets = new Map<string, ReadonlyMap<string, ReadonlySet<string>>>();

function readSystems(url: string): ReadonlyMap<string, ReadonlySet<string>> {
  const known = sets.get(url);
  if (known !== undefined) return known;
  const systems = new Map(
    Object.entries(profileValueSet(url)).map(([system, codes]) => [system, new Set(codes)]),
  );
  sets.set(url, systems);
  return systems;
}

/**
 * Returns whether one of an item's codings is in a value set; undefined if the item has no code at all, for example a concept
 * with only text.
 */
export function isBound({ value, type }: Item, url: string): boolean | undefined {
  const systems = readSystems(url);
  if (typeof value === 'string') return [...systems.values()].some((codes) => codes.has(value));
  if (!isObject(value)) return undefined;
  const codings = type === 'CodeableConcept' ? asArray(value.coding) : [value];
  const coded = codings.filter((coding) => isObject(coding) && typeof coding.code === 'string');
  return coded.length === 0 ? undefined : coded.some((coding) => isIn(coding, systems));
}

function isIn(coding: Json, systems: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  if (!isObject(coding) || typeof coding.system !== 'string' || typeof coding.code !== 'string') return false;
  return systems.get(coding.system)?.has(coding.code) === true;
}

/** Returns the codes in a value set, formatted for a message. */
export function namedCodes(url: string): string {
  const codes = [...readSystems(url).values()].flatMap((system) => [...system]);
  return codes.length > 12 ? `the codes of ${url}` : `${codes.join(', ')} (${url})`;
}
