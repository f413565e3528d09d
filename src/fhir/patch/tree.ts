/**
 * Handles elements in FHIR's JSON form (https://hl7.org/fhir/R4/json.html): the locations of elements in a resource, and their
 * content. For a primitive, the `_` sibling with its id and extensions is kept in sync.
 */
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { isR4ResourceType } from '../definitions/tables.ts';
import { findNamedElement, isPrimitive } from './elements.ts';

/** One step down from an object: a JSON name (without `_`) and, in a list, an index. */
export interface Step {
  readonly key: string;
  readonly index?: number;
}

/** The steps from the resource down to an element; an empty list means the resource itself. */
export type Location = readonly Step[];

/** An element's content: `value` is stored under its name, `extra` (a primitive's id and extensions) under `_name`. */
export interface Content {
  readonly value?: Json;
  readonly extra?: JsonObject;
}

/** Returns the object that contains an element's children: the element itself or, for a primitive, its `_` sibling. */
export function objectAt(root: JsonObject, location: Location): JsonObject | undefined {
  let object: JsonObject | undefined = root;
  for (const { key, index } of location) {
    if (object === undefined) return undefined;
    const value = item(object[key], index);
    const extra = item(object[`_${key}`], index);
    object = isObject(value) ? value : isObject(extra) ? extra : undefined;
  }
  return object;
}

/** Returns the same object as `objectAt`, but creates the `_` sibling if a primitive doesn't have one yet. */
export function objectFor(root: JsonObject, location: Location): JsonObject | undefined {
  const found = objectAt(root, location);
  const last = location.at(-1);
  if (found !== undefined || last === undefined) return found;
  const parent = objectAt(root, location.slice(0, -1));
  if (parent === undefined) return undefined;
  const made: JsonObject = {};
  if (last.index === undefined) parent[`_${last.key}`] = made;
  else {
    const list = openList(parent, last.key);
    list.set(last.index, { ...list.get(last.index), extra: made });
    list.store();
  }
  return made;
}

/** Returns the type of the element at a location, as a name in the definitions; undefined if R4 has no such element. */
export function typeAt(root: JsonObject, location: Location): string | undefined {
  let type: string | undefined = typeof root.resourceType === 'string' ? root.resourceType : undefined;
  location.forEach(({ key }, depth) => {
    // A primitive has the same children as any element: id and extensions.
    const owner = type !== undefined && isPrimitive(type) ? 'Element' : type;
    type = owner === undefined ? undefined : findNamedElement(owner, key)?.code;
    if (type !== 'Resource') return;
    const contained = objectAt(root, location.slice(0, depth + 1))?.resourceType;
    type = typeof contained === 'string' && isR4ResourceType(contained) ? contained : undefined;
  });
  return type;
}

/** Returns whether an element is present under a JSON name. */
export function isPresent(parent: JsonObject, key: string): boolean {
  return Object.hasOwn(parent, key) || Object.hasOwn(parent, `_${key}`);
}

/** Sets an element that doesn't repeat. If neither `value` nor `extra` is given, removes the element. */
export function setElement(parent: JsonObject, key: string, { value, extra }: Content): void {
  put(parent, key, value);
  put(parent, `_${key}`, extra);
}

/** The items in a list, with `name` and `_name` kept in sync. `store` writes changes to the resource. */
export class ElementList {
  readonly #items: Content[];

  constructor(
    readonly parent: JsonObject,
    readonly key: string,
  ) {
    const values = asArray(parent[key]);
    const extras = asArray(parent[`_${key}`]);
    this.#items = Array.from({ length: Math.max(values.length, extras.length) }, (_, index) =>
      content(values[index], extras[index]),
    );
  }

  get length(): number {
    return this.#items.length;
  }

  get(index: number): Content {
    return this.#items[index] ?? {};
  }

  set(index: number, item: Content): void {
    this.#items[index] = item;
  }

  insert(index: number, item: Content): void {
    this.#items.splice(index, 0, item);
  }

  remove(index: number): Content {
    return this.#items.splice(index, 1)[0] ?? {};
  }

  /** Writes both arrays back to the resource; removes an array that would be empty. */
  store(): void {
    const values = this.#items.map((item) => item.value ?? null);
    const extras = this.#items.map((item) => item.extra ?? null);
    put(this.parent, this.key, values.some((value) => value !== null) ? values : undefined);
    put(this.parent, `_${this.key}`, extras.some((extra) => extra !== null) ? extras : undefined);
  }
}

/** Returns the list under a JSON name; an empty list if there is none. */
export function openList(parent: JsonObject, key: string): ElementList {
  return new ElementList(parent, key);
}

/** Removes an element, and then each parent that becomes empty, because FHIR's JSON has no empty objects or arrays. */
export function removeAt(root: JsonObject, location: Location): void {
  const last = location.at(-1);
  const parent = objectAt(root, location.slice(0, -1));
  if (last === undefined || parent === undefined) return;
  if (last.index === undefined) setElement(parent, last.key, {});
  else {
    const list = openList(parent, last.key);
    list.remove(last.index);
    list.store();
  }
  if (Object.keys(parent).length > 0 || location.length === 1) return;
  const above = location.slice(0, -1);
  if (isExtraOfValue(root, above)) dropExtra(root, above);
  else removeAt(root, above);
}

/** Returns whether the object at a location is the `_` sibling of a primitive that also has a value. */
function isExtraOfValue(root: JsonObject, location: Location): boolean {
  const last = location.at(-1);
  const value =
    last === undefined ? undefined : item(objectAt(root, location.slice(0, -1))?.[last.key], last.index);
  return value !== undefined && value !== null && !isObject(value);
}

function dropExtra(root: JsonObject, location: Location): void {
  const last = location.at(-1);
  const parent = objectAt(root, location.slice(0, -1));
  if (last === undefined || parent === undefined) return;
  if (last.index === undefined) {
    delete parent[`_${last.key}`];
    return;
  }
  const list = openList(parent, last.key);
  list.set(last.index, content(list.get(last.index).value, undefined));
  list.store();
}

function put(parent: JsonObject, key: string, value: Json | undefined): void {
  if (value === undefined) delete parent[key];
  else parent[key] = value;
}

function item(value: Json | undefined, index: number | undefined): Json | undefined {
  if (index === undefined) return value;
  return Array.isArray(value) ? value[index] : undefined;
}

function asArray(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function content(value: Json | undefined, extra: Json | undefined): Content {
  return {
    ...(value !== undefined && value !== null ? { value } : {}),
    ...(isObject(extra) ? { extra } : {}),
  };
}
