/** Reading elements by their FHIRPath names from FHIR's JSON. */
import { isObject, type Json } from '#src/shared/json.ts';
import { type ElementDefinition, jsonName, PRIMITIVES, typeDefinition } from '../definitions/tables.ts';
import { type Compiled, NOTHING } from './compiled.ts';
import { NO_VALUE, type Node } from './nodes.ts';

/** JSON name of an element, and for a primitive the name of its `_name` sibling. */
type Name = readonly [key: string, shadow: string | undefined];

/**
 * Compiles reading an element of every item.
 * @param name the name without a choice's type: `value` reads `valueQuantity`.
 */
export function member(name: string, on: Compiled): Compiled {
  const names: Name[] = [];
  const types = new Set<string>();
  for (const type of on.types ?? []) {
    const element = elementOf(type, name);
    if (element === undefined) continue;
    for (const { code } of element.types) {
      const key = jsonName(element, code);
      if (!names.some(([known]) => known === key))
        names.push([key, PRIMITIVES.has(code) ? `_${key}` : undefined]);
      types.add(code);
    }
  }
  if (on.types === undefined) names.push([name, `_${name}`]);
  const { run } = on;
  return {
    run: (focus, environment) => readAll(run(focus, environment), names),
    found: (focus, environment) => {
      for (const item of run(focus, environment)) if (holdsAny(item, names)) return true;
      return false;
    },
    types: on.types === undefined || types.has('Resource') ? undefined : types,
  };
}

function elementOf(type: string, name: string): ElementDefinition | undefined {
  if (PRIMITIVES.has(type)) return undefined;
  return typeDefinition(type).elements.find((element) => element.name === name);
}

function holdsAny(item: Node, names: readonly Name[]): boolean {
  if (item === NO_VALUE || !isObject(item)) return false;
  for (const [key, shadow] of names) {
    const value = item[key];
    if (value !== undefined) {
      if (!Array.isArray(value) || value.length > 0) return true;
    } else if (shadow !== undefined && item[shadow] !== undefined) return true;
  }
  return false;
}

function readAll(items: readonly Node[], names: readonly Name[]): readonly Node[] {
  let found: Node[] | undefined;
  for (const item of items) {
    if (item === NO_VALUE || !isObject(item)) continue;
    for (const [key, shadow] of names) {
      const value = item[key] ?? (shadow === undefined ? undefined : bareOf(item[shadow]));
      if (value === undefined) continue;
      found ??= [];
      if (!Array.isArray(value)) found.push(value);
      else for (const each of value) found.push(each === null ? NO_VALUE : each);
    }
  }
  return found ?? NOTHING;
}

/** Returns a primitive that has an extension but no value: FHIRPath counts it as present. */
function bareOf(shadow: Json | undefined): Node[] | undefined {
  if (shadow === undefined) return undefined;
  return Array.isArray(shadow) ? shadow.map(() => NO_VALUE) : [NO_VALUE];
}
