/**
 * The order of an answer: https://hl7.org/fhir/R4/search.html#sort. Of several values the one that comes first in the
 * order counts; a resource without a value comes last in either direction; equal ones follow by their ids.
 */
import { compiledParameter } from '#src/fhir/search/paths.ts';
import { isSingle } from '#src/fhir/search/timeline.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Micros } from '#src/shared/time.ts';
import type { Binds } from '../binds.ts';
import type { Sort } from './controls.ts';
import { oneOf, rowsOfId } from './predicate.ts';
import { badParameter } from './raw.ts';
import { parameterKeys } from './stored.ts';

/** Where the values of a key stand. */
export interface Place {
  readonly table: string;
  readonly column: string;
  /** Of the parameter, or of those that hold its values. */
  readonly keys: readonly string[];
  /** Whether a resource has one value at most. */
  readonly single: boolean;
}

/** One key of an order. */
export interface OrderKey extends Sort {
  readonly type: 'uuid' | 'int8' | 'text' | 'numeric';
  /** Its values in the read model `search`; none for what every resource says once, `_id` and `_lastUpdated`. */
  readonly place?: Place;
}

/** Tables and columns that hold the values of a type of parameter. Of a period, and of a range, the beginning counts. */
const PLACES = {
  date: { table: 'period', type: 'int8', column: 'low' },
  string: { table: 'string', type: 'text', column: 'folded' },
  uri: { table: 'string', type: 'text', column: 'folded' },
  quantity: { table: 'quantity', type: 'numeric', column: 'low' },
} as const;

/**
 * What a `_sort` of a type comes down to.
 * @throws Refusal `malformed` naming a parameter that the type does not have, or that has no order here.
 */
export function orderOf(type: ResourceType, tenant: string, sorts: readonly Sort[]): readonly OrderKey[] {
  return sorts.map((sort) => {
    if (sort.by === '_id') return { ...sort, type: 'uuid' };
    if (sort.by === '_lastUpdated') return { ...sort, type: 'int8' };
    const parameter = compiledParameter(type, sort.by);
    if (parameter === undefined) {
      throw badParameter('_sort', `${type} has no search parameter ${sort.by.slice(0, 100)} here`);
    }
    if (!isOrdered(parameter.type)) {
      throw badParameter(
        '_sort',
        `${sort.by} is a ${parameter.type}, which has no order here; dates, strings, uris, quantities, _id and _lastUpdated have one`,
      );
    }
    const { table, type: of, column } = PLACES[parameter.type];
    const keys = parameterKeys(parameter, { tenant, type });
    return { ...sort, type: of, place: { table, column, keys, single: isSingle(type, parameter) } };
  });
}

function isOrdered(type: string): type is keyof typeof PLACES {
  return type in PLACES;
}

/** `asc` or `desc`. */
export function direction({ descending }: Pick<Sort, 'descending'>): 'asc' | 'desc' {
  return descending ? 'desc' : 'asc';
}

/**
 * The value that a key has for the row `c` with the columns `id` and `last_updated`.
 */
export function sortValue({ by, place, descending }: OrderKey, binds: Binds): string {
  if (place === undefined) return by === '_id' ? 'c.id' : 'c.last_updated';
  const { table, column, keys } = place;
  return `(select ${descending ? 'max' : 'min'}(o.${column}) from ${rowsOfId(table, 'o', 'c.id')}
    where ${oneOf('o.key', keys, binds)})`;
}

/**
 * When the version that was current at a moment was recorded; null when there was none (primary key of history.version).
 * @param row the row, with the columns `id` and `last_updated`.
 */
export function sortValueAt(moment: Micros, binds: Binds, row = 'c'): string {
  const upper = binds.add(moment, 'int8');
  return `case when ${row}.last_updated <= ${upper} then ${row}.last_updated else (
    select h.recorded_at from history.version h where h.id = ${row}.id and h.recorded_at <= ${upper}
    order by h.version desc limit 1) end`;
}

/** The order of rows with the columns k0, k1, … and `id`. @param row their name with a dot, or nothing */
export function orderBy(order: readonly OrderKey[], row = ''): string {
  const keys = order.map((key, n) => `${row}k${n} ${direction(key)} nulls last`);
  return [...keys, `${row}id ${direction(order[0] ?? { descending: false })}`].join(', ');
}

/** Where a page ended: its last row's keys as texts, null for none, and its id. */
export interface Last {
  readonly keys: readonly (string | null)[];
  readonly id: string;
}

/** The condition that a row with k0, k1, … and `id` comes after another. */
export function after(order: readonly OrderKey[], last: Last, binds: Binds): string {
  const same: string[] = [];
  const alternatives: string[] = [];
  for (const [n, key] of order.entries()) {
    const text = last.keys[n] ?? null;
    if (text === null) {
      same.push(`k${n} is null`);
      continue;
    }
    const value = binds.add(text, key.type);
    const beyond = `k${n} ${key.descending ? '<' : '>'} ${value}`;
    alternatives.push(
      [...same, key.place === undefined ? beyond : `(${beyond} or k${n} is null)`].join(' and '),
    );
    same.push(`k${n} = ${value}`);
  }
  const id = `id ${order[0]?.descending === true ? '<' : '>'} ${binds.add(last.id, 'uuid')}`;
  alternatives.push([...same, id].join(' and '));
  return alternatives.map((each) => `(${each})`).join(' or ');
}
