/**
 * The order of a result: https://hl7.org/fhir/R4/search.html#sort. If a resource has several values, the value that comes
 * first in the order counts. Resources without a value come last in either direction. Resources with equal values are ordered
 * by id.
 */

import type { CompiledParameter } from '#src/fhir/search/compiled-parameter.ts';
import { PRESENT } from '#src/fhir/search/keys.ts';
import {
  compiledParameter,
  compiledParameters,
  isSortedByText,
  namesRecord,
} from '#src/fhir/search/paths.ts';
import { sortSlots } from '#src/fhir/search/sorts.ts';
import { isSingle } from '#src/fhir/search/timeline.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Sees } from '#src/shared/access/caller.ts';
import { cut } from '#src/shared/cut.ts';
import { didYouMean } from '#src/shared/nearest.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { Binds } from '../database/binds.ts';
import { equalsOneOf, formKeys, parameterKeys, rowsOfId } from './predicates/conditions.ts';
import type { Predicate } from './predicates/predicate.ts';
import { badParameter } from './raw.ts';
import type { Sort } from './shape.ts';

/** Where the values of a sort key are stored. */
export interface Place {
  readonly table: string;
  readonly column: string;
  /** The keys of the parameter, or of the parameters that contain its values. */
  readonly keys: readonly string[];
  /** True if a resource has at most one value. */
  readonly single: boolean;
}

export interface OrderKey extends Sort {
  readonly type: 'uuid' | 'int8' | 'text' | 'numeric';
  /**
   * Where the read model `search` stores the key's values; undefined for `_id` and `_lastUpdated`, of which every resource has
   * exactly one.
   */
  readonly place?: Place;
  /** The value in a resource's own entry, if the key has no `place`. */
  readonly inEntry?: InEntry;
}

/** A token or reference value in an entry. */
export interface InEntry {
  /** Keys chosen so that every entry with a value has at least one of them. */
  readonly present: readonly string[];
  /**
   * Returns SQL for the value.
   * @param entry the entry's alias in the statement
   */
  value(entry: string): string;
}

/** Tables and columns that contain the values of each parameter type. For a period or a range, its beginning counts. */
const PLACES = {
  date: { table: 'period', type: 'int8', column: 'low' },
  string: { table: 'string', type: 'text', column: 'folded' },
  uri: { table: 'string', type: 'text', column: 'folded' },
  quantity: { table: 'quantity', type: 'numeric', column: 'low' },
} as const;

/**
 * Returns the order that a `_sort` specifies for a type.
 * @param sees under a grant, the order doesn't depend on references, because references to other records aren't shown
 * @throws Refusal `malformed` naming a parameter that the type doesn't have, or that can't be used for sorting
 */
export function makeOrder(
  type: ResourceType,
  { ownerId: tenant, within }: Pick<Sees, 'ownerId' | 'within'>,
  sorts: readonly Sort[],
): readonly OrderKey[] {
  return sorts.map((sort) => {
    if (sort.by === '_id') return { ...sort, type: 'uuid' };
    if (sort.by === '_lastUpdated') return { ...sort, type: 'int8' };
    const parameter = compiledParameter(type, sort.by);
    if (parameter === undefined) {
      const meant = didYouMean(sort.by, sortable(type));
      throw badParameter('_sort', `${type} has no search parameter ${cut(sort.by, 100)} here${meant}`);
    }
    if (within !== undefined && parameter.type === 'reference' && !namesRecord(type, parameter)) {
      throw badParameter(
        '_sort',
        `${sort.by} is a reference, which an application with a grant can't sort by`,
      );
    }
    if (isSortedByText(parameter)) return { ...sort, ...textIn(type, tenant, parameter, sort.descending) };
    if (!isOrdered(parameter.type) || parameter.sounds === true) {
      const what = parameter.sounds === true ? 'how a name sounds' : `a ${parameter.type}`;
      throw badParameter(
        '_sort',
        `${sort.by} is ${what}, which cannot be sorted by; sort by a token, reference, date, string, uri or quantity, or by _id or _lastUpdated`,
      );
    }
    const { table, type: of, column } = PLACES[parameter.type];
    const keys = parameterKeys(parameter, { tenant, type });
    return { ...sort, type: of, place: { table, column, keys, single: isSingle(type, parameter) } };
  });
}

/** Returns the names of the parameters by which a type can be sorted. */
function sortable(type: ResourceType): string[] {
  const own = compiledParameters(type).filter(
    (parameter) => isSortedByText(parameter) || (isOrdered(parameter.type) && parameter.sounds !== true),
  );
  return [...own.map(({ code }) => code), '_id', '_lastUpdated'];
}

/**
 * Sorts by a token or a reference in an entry, using the text of the value that comes first. The record's own Patient is a
 * column.
 */
function textIn(
  type: ResourceType,
  tenant: string,
  parameter: CompiledParameter,
  descending: boolean,
): Pick<OrderKey, 'type' | 'inEntry'> {
  const present = formKeys(parameter, [PRESENT], { tenant, type });
  if (namesRecord(type, parameter)) {
    return { type: 'uuid', inEntry: { present, value: (entry) => `${entry}.record` } };
  }
  const slots = parameter.stored.flatMap((code) => sortSlots(type).get(code) ?? []);
  const value = (entry: string) => {
    const ends = slots.map((slot) => {
      const first = `${entry}.sorts[${2 * slot - 1}]`;
      return descending ? `coalesce(${entry}.sorts[${2 * slot}], ${first})` : first;
    });
    return ends.length === 1 ? (ends[0] ?? '') : `${descending ? 'greatest' : 'least'}(${ends.join(', ')})`;
  };
  return { type: 'text', inEntry: { present, value } };
}

function isOrdered(type: string): type is keyof typeof PLACES {
  return type in PLACES;
}

/** Returns true if every resource has a value for the key. */
export function isEverywhere({ place, inEntry }: Pick<OrderKey, 'place' | 'inEntry'>): boolean {
  return place === undefined && inEntry === undefined;
}

/** Returns `asc` or `desc`. */
export function direction({ descending }: Pick<Sort, 'descending'>): 'asc' | 'desc' {
  return descending ? 'desc' : 'asc';
}

/** Returns SQL for a sort key's value in the row `c`, which has the columns `id` and `last_updated`. */
export function sortValue({ by, place, inEntry, descending }: OrderKey, binds: Binds): string {
  if (inEntry !== undefined) return `(select ${inEntry.value('o')} from search.entry o where o.id = c.id)`;
  if (place === undefined) return by === '_id' ? 'c.id' : 'c.last_updated';
  const { table, column, keys } = place;
  return `(select ${descending ? 'max' : 'min'}(o.${column}) from ${rowsOfId(table, 'o', 'c.id')}
    where ${equalsOneOf('o.key', keys, binds)})`;
}

/** Returns the conditions on the values that a key sorts by, if a resource has at most one such value. */
export function conditionsOn(
  place: Place | undefined,
  predicates: readonly Predicate[],
): readonly Predicate[] {
  if (place?.single !== true) return [];
  return predicates.filter(
    ({ values }) =>
      values?.table === place.table && values.by === undefined && values.keys.join() === place.keys.join(),
  );
}

/**
 * Returns SQL for when the version that was current at a given time was recorded; null if there was no version at that time
 * (primary key of history.version).
 * @param row the row, with the columns `id` and `last_updated`
 */
export function sortValueAt(moment: Micros, binds: Binds, row = 'c'): string {
  const upper = binds.add(moment, 'int8');
  return `case when ${row}.last_updated <= ${upper} then ${row}.last_updated else (
    select h.recorded_at from history.version h where h.id = ${row}.id and h.recorded_at <= ${upper}
    order by h.version desc limit 1) end`;
}

/**
 * Returns the `order by` for rows with the columns k0, k1, … and `id`.
 * @param row the row's alias with a dot, or empty
 */
export function orderBy(order: readonly OrderKey[], row = ''): string {
  const keys = order.map((key, n) => `${row}k${n} ${direction(key)} nulls last`);
  return [...keys, `${row}id ${direction(order[0] ?? { descending: false })}`].join(', ');
}

/** The end of a page: the keys of its last row as text, null for missing keys, and the row's id. */
export interface Last {
  readonly keys: readonly (string | null)[];
  readonly id: string;
}

/** Returns the condition that a row with k0, k1, … and `id` comes after another row. */
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
    alternatives.push([...same, isEverywhere(key) ? beyond : `(${beyond} or k${n} is null)`].join(' and '));
    same.push(`k${n} = ${value}`);
  }
  const id = `id ${order[0]?.descending === true ? '<' : '>'} ${binds.add(last.id, 'uuid')}`;
  alternatives.push([...same, id].join(' and '));
  return alternatives.map((each) => `(${each})`).join(' or ');
}
