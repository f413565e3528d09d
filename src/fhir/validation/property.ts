/** Checks the values of elements against their properties: cardinality, JSON type, and the content of `_name`. */

import { withArticle } from '#src/shared/article.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import type { Holds } from './invariants.ts';
import { hasForbiddenCharacter, PRIMITIVE_TESTS, type PrimitiveTest } from './primitives.ts';
import { asArray, noteId, type Walk } from './walk.ts';
import { checkXhtml } from './xhtml.ts';

/** Validates an object at the walk's current position; faults are added to the walk. */
export type ObjectCheck = (object: JsonObject, walk: Walk) => void;

/** A compiled invariant. */
export interface Rule {
  readonly key: string;
  readonly human: string;
  readonly holds: Holds;
}

/** The rules for one JSON name of a type. */
export interface Property {
  /** Name of the element; for a choice, the name without a type. */
  readonly name: string;
  /** FHIRPath of a value relative to the object that contains it: `name`, or for a choice `value.ofType(boolean)`. */
  readonly step: string;
  /** JSON name of the value: for `_valueString` too, it is `valueString`. */
  readonly key: string;
  /** True if this is `_name`, which contains a primitive's id and extensions. */
  readonly shadow: boolean;
  readonly list: boolean;
  readonly choice: boolean;
  /** This property's bit if it is a required element or a choice; otherwise 0. */
  readonly bit: number;
  readonly type: string;
  /** Set for primitives. */
  readonly test: PrimitiveTest | undefined;
  /** True if the element is a primitive with a required binding. */
  readonly bound: boolean;
  /** Set for complex types, and for `_name`. */
  readonly check: ObjectCheck | undefined;
  /** The element's own invariants, in addition to those of its type. */
  readonly rules: readonly Rule[];
}

/** Checks an element's value. It must be a single value or a list, as the element's definition requires. */
export function checkValue(object: JsonObject, value: Json, property: Property, walk: Walk): void {
  if (!property.list) {
    if (Array.isArray(value)) walk.fault('structure', 'must be a single value, not an array', property.step);
    else checkItem(value, property, -1, walk);
    return;
  }
  if (!Array.isArray(value)) {
    walk.fault('structure', 'must be an array', property.step);
    if (value !== null) checkItem(value, property, 0, walk);
    return;
  }
  if (value.length === 0) walk.fault('structure', 'must not be an empty array', property.step);
  for (let index = 0; index < value.length; index += 1) {
    const item = value[index] ?? null;
    if (item !== null || !hasShadow(object, property, index)) checkItem(item, property, index, walk);
  }
}

/**
 * Returns whether `_name` has an item at an index. A null in a list of primitives represents a value that has only an id or
 * extensions.
 */
function hasShadow(object: JsonObject, property: Property, index: number): boolean {
  return property.test !== undefined && isObject(asArray(object[`_${property.key}`])[index]);
}

function checkItem(value: Json, property: Property, index: number, walk: Walk): void {
  const { step: name } = property;
  if (value === null) walk.fault('structure', 'must not be null', name, index);
  else if (property.test !== undefined) checkPrimitive(value, property, property.test, index, walk);
  else if (property.type === 'xhtml') checkNarrative(value, name, walk);
  else if (isObject(value)) {
    walk.enter(name, index);
    property.check?.(value, walk);
    if (property.rules.length > 0) applyRules(property.rules, value, walk);
    walk.leave();
  } else walk.fault('structure', 'must be an object', name, index);
}

function checkPrimitive(
  value: Json,
  property: Property,
  test: PrimitiveTest,
  index: number,
  walk: Walk,
): void {
  const { step: name } = property;
  if (Array.isArray(value) || isObject(value)) {
    walk.fault('structure', `must be ${withArticle(property.type)}, not an object or array`, name, index);
    return;
  }
  const fault = test(value);
  if (fault !== undefined) walk.fault(property.bound ? 'code-invalid' : 'value', fault, name, index);
  else if (typeof value === 'string' && value.charCodeAt(0) === 0x23) walk.scope.local.add(value);
  if (property.rules.length > 0) {
    walk.enter(name, index);
    applyRules(property.rules, value, walk);
    walk.leave();
  }
}

/** Adds a fault for every rule that the walk's current element breaks. */
export function applyRules(rules: readonly Rule[], focus: Json, walk: Walk): void {
  const environment = { resource: walk.scope.resource, rootResource: walk.scope.root };
  const items = [focus];
  for (const { key, human, holds } of rules) {
    if (!holds(items, environment)) walk.fault('invariant', `violates ${key}: ${human}`);
  }
}

/**
 * Checks `_name`.
 * @returns whether `_name` makes the element present although it has no value
 */
export function checkShadow(object: JsonObject, value: Json, property: Property, walk: Walk): boolean {
  const { step: name, list } = property;
  const base = object[property.key];
  if (!list) {
    if (isObject(value)) return checkShadowItem(value, base !== undefined, property, -1, walk);
    walk.fault('structure', `must have an object in _${property.key}`, name);
    return false;
  }
  if (!Array.isArray(value) || value.length === 0) {
    walk.fault('structure', `must have an array that is not empty in _${property.key}`, name);
    return false;
  }
  let present = false;
  const values = asArray(base);
  const filled = value.findLastIndex((item) => item !== null) + 1;
  for (const [index, item] of value.slice(0, filled).entries()) {
    const other = values[index];
    const hasBase = other !== undefined && other !== null;
    if (isObject(item)) present = checkShadowItem(item, hasBase, property, index, walk) || present;
    else if (item !== null)
      walk.fault('structure', `must have objects and nulls in _${property.key}`, name, index);
    else if (other === undefined)
      walk.fault('structure', 'has neither a value nor an extension', name, index);
  }
  // Trailing nulls are ignored, unless nulls are all that the element contains.
  if (filled === 0 && values.length === 0)
    walk.fault('structure', 'has neither a value nor an extension', name, 0);
  else if (filled < value.length) walk.sink?.trailingNulls?.();
  return present;
}

/** https://hl7.org/fhir/R4/terminologies.html#required */
const NO_CODE = 'must have a code: the binding is required, and an extension cannot replace the code';

function checkShadowItem(
  item: JsonObject,
  hasBase: boolean,
  property: Property,
  index: number,
  walk: Walk,
): boolean {
  if (property.bound && !hasBase && item.extension !== undefined) {
    walk.fault('code-invalid', NO_CODE, property.step, index);
  }
  walk.enter(property.step, index);
  if (hasBase && item.id !== undefined && item.extension === undefined) checkIdOnly(item, walk);
  else property.check?.(item, walk);
  walk.leave();
  return item.extension !== undefined;
}

/** Checks an item of `_name` that has only an id. If the primitive has a value, the item needs no extension. */
function checkIdOnly(item: JsonObject, walk: Walk): void {
  if (item.id !== undefined) noteId(item.id, walk);
  for (const key in item) if (key !== 'id') walk.fault('structure', 'is not an element of a primitive', key);
  const fault = PRIMITIVE_TESTS.string?.(item.id ?? null);
  if (fault !== undefined) walk.fault('value', fault, 'id');
}

function checkNarrative(value: Json, name: string, walk: Walk): void {
  if (typeof value !== 'string') {
    walk.fault('structure', 'must be a JSON string', name);
    return;
  }
  if (hasForbiddenCharacter(value)) walk.fault('value', 'must not contain control characters', name);
  const fault = checkXhtml(value);
  if (fault === undefined) return;
  if (fault.rule === 'xml') walk.fault('value', `must be well-formed XHTML, but it ${fault.text}`, name);
  else walk.fault('invariant', `${fault.text} (${fault.rule})`, name);
}
