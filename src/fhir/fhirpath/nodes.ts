/** Compares the items in FHIRPath collections over FHIR's JSON, for equality and order. */
import { isNumber, isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';

/** A primitive element that has an id or an extension but no value. */
export const NO_VALUE = Symbol('no value');

/** An item in a collection. */
export type Node = Json | typeof NO_VALUE;

/**
 * Thrown when two items can't be compared here, for example because units have to be converted. The full engine may be able to
 * compare them.
 */
export class NeedsEngine extends Error {
  override readonly name = 'NeedsEngine';
}

/** Returns whether two items are equal; undefined if one of them has no value. */
export function equalValues(one: Node, other: Node): boolean | undefined {
  return one === NO_VALUE || other === NO_VALUE ? undefined : deepEqual(one, other);
}

function deepEqual(one: Json, other: Json): boolean {
  if (isNumber(one) && isNumber(other)) return Number(one) === Number(other);
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, at) => deepEqual(item, other[at] ?? null));
  }
  if (isObject(one) && isObject(other)) {
    const keys = Object.keys(one);
    return (
      keys.length === Object.keys(other).length &&
      keys.every((key) => Object.hasOwn(other, key) && deepEqual(one[key] ?? null, other[key] ?? null))
    );
  }
  return one === other;
}

/** Returns whether two collections are equal item by item; undefined if that isn't known. */
export function equalCollections(left: readonly Node[], right: readonly Node[]): boolean | undefined {
  if (left.length === 0 || right.length === 0) return undefined;
  if (left.length !== right.length) return false;
  let equal: boolean | undefined = true;
  for (const [at, item] of left.entries()) {
    const same = equalValues(item, right[at] ?? NO_VALUE);
    if (same === false) return false;
    if (same === undefined) equal = undefined;
  }
  return equal;
}

/**
 * Returns a string that is the same for equal items, so that distinct items can be found in linear time. An item without a
 * value isn't equal to any other item.
 */
function itemKey(item: Node): string | typeof NO_VALUE {
  if (item === NO_VALUE) return NO_VALUE;
  if (isNumber(item)) return `n${Number(item)}`;
  if (Array.isArray(item)) return `[${item.map((each) => String(itemKey(each))).join()}]`;
  if (!isObject(item)) return JSON.stringify(item);
  const members = Object.keys(item).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${String(itemKey(item[key] ?? null))}`).join()}}`;
}

/** Returns the items, leaving out each item that is equal to an earlier one. */
export function distinct(items: readonly Node[]): readonly Node[] {
  if (items.length < 2) return items;
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = itemKey(item);
    if (key === NO_VALUE) return true;
    return !seen.has(key) && seen.add(key);
  });
}

/** Returns whether no two items are equal. */
export function isDistinct(items: readonly Node[]): boolean {
  return distinct(items).length === items.length;
}

/** Returns the distinct items that are also in the other collection. */
export function intersection(items: readonly Node[], others: readonly Node[]): readonly Node[] {
  if (items.length === 0 || others.length === 0) return [];
  const keys = new Set(others.map(itemKey));
  return distinct(items.filter((item) => item !== NO_VALUE && keys.has(itemKey(item))));
}

/**
 * Compares two items: negative, zero or positive; undefined if their order isn't known.
 * @throws NeedsEngine for quantities with different units.
 */
export function compareValues(one: Node, other: Node): number | undefined {
  if (one === NO_VALUE || other === NO_VALUE) return undefined;
  if (isNumber(one) && isNumber(other)) return Number(one) - Number(other);
  if (typeof one === 'string' && typeof other === 'string') return compareTimes(one, other);
  if (isObject(one) && isObject(other)) return compareQuantities(one, other);
  return undefined;
}

function compareQuantities(one: JsonObject, other: JsonObject): number | undefined {
  if (!isNumber(one.value) || !isNumber(other.value)) return undefined;
  const unit = one.code ?? one.unit;
  if (one.system !== other.system || unit !== (other.code ?? other.unit))
    throw new NeedsEngine('units differ');
  return Number(one.value) - Number(other.value);
}

const TEMPORAL = /^\d{4}(-\d\d(-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))?)?)?$/;

/**
 * Compares dates and times. If their precision differs and the coarser value includes the finer one, the order isn't known
 * (undefined). A date has no time zone, so it may be up to 14 hours earlier or later than a value that has one.
 */
function compareTimes(one: string, other: string): number | undefined {
  if (one === other) return 0;
  if (!TEMPORAL.test(one) || !TEMPORAL.test(other)) return undefined;
  if (one.length <= 10 && other.length <= 10) {
    const shared = Math.min(one.length, other.length);
    const [a, b] = [one.slice(0, shared), other.slice(0, shared)];
    if (a === b) return one.length === other.length ? 0 : undefined;
    return a < b ? -1 : 1;
  }
  const [a, b] = [span(one), span(other)];
  if (Number.isNaN(a.from + b.from)) return undefined;
  if (a.from === a.to && b.from === b.to) return a.from - b.from;
  if (a.to < b.from) return -1;
  return a.from > b.to ? 1 : undefined;
}

const ZONES = 14 * 3_600_000;

/** Returns the first and last millisecond that a text may mean, in UTC. */
function span(text: string): { from: number; to: number } {
  if (text.length > 10) {
    const at = Date.parse(text);
    return { from: at, to: at };
  }
  const year = Number(text.slice(0, 4));
  const month = text.length > 4 ? Number(text.slice(5, 7)) - 1 : undefined;
  const day = text.length > 7 ? Number(text.slice(8)) : undefined;
  const from = Date.UTC(year, month ?? 0, day ?? 1);
  const to =
    day !== undefined
      ? Date.UTC(year, month ?? 0, day + 1)
      : month !== undefined
        ? Date.UTC(year, month + 1)
        : Date.UTC(year + 1, 0);
  return { from: from - ZONES, to: to + ZONES - 1 };
}
