/** What a search parameter comes down to: a condition in SQL over a row. */

import type { Micros } from '#src/shared/time.ts';
import type { Binds } from '../binds.ts';
import { bounds, parsePrefixedDate } from './dates.ts';
import { keyOf, type RawParameter, refuseModifier } from './raw.ts';

/** Gives the condition's SQL, its values bound. The row is `r` unless the predicate says otherwise. */
export interface Predicate {
  (binds: Binds): string;
  /** Whether it names the rows by their ids or their records, so that an index leads straight to them. */
  readonly keyed?: boolean;
}

/**
 * The condition that rows are of a tenant. Of rows that a predicate is keyed to it is only checked: without statistics
 * the planner might take the tenant's index for as good as the one that leads to them, and walk all that the tenant has.
 */
export function ofTenant(tenant: string, keyed: boolean, binds: Binds): string {
  const condition = `r.tenant = ${binds.add(tenant, 'uuid')}`;
  return keyed ? `(${condition}) is true` : condition;
}

/** All of them. */
export function allOf(predicates: readonly Predicate[], binds: Binds): string {
  return predicates.map((predicate) => `(${predicate(binds)})`).join(' and ') || 'true';
}

/**
 * Compares a column that holds microseconds with prefixed dates, any of which may hold.
 * @throws Refusal `malformed` for a modifier or a bad date.
 */
export function momentPredicate(parameter: RawParameter, column: string, now: Micros): Predicate {
  refuseModifier(parameter);
  const alternatives = parameter.values.map((value) => {
    const { prefix, period } = parsePrefixedDate(keyOf(parameter), value);
    return bounds(prefix, period, now);
  });
  return (binds) =>
    alternatives
      .map(({ from, to, outside }) => {
        if (outside !== undefined) {
          return `${column} < ${binds.add(outside.from, 'int8')} or ${column} >= ${binds.add(outside.to, 'int8')}`;
        }
        const parts = [];
        if (from !== undefined) parts.push(`${column} >= ${binds.add(from, 'int8')}`);
        if (to !== undefined) parts.push(`${column} < ${binds.add(to, 'int8')}`);
        return parts.join(' and ');
      })
      .map((sql) => `(${sql})`)
      .join(' or ');
}
