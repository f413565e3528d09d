import type { Micros } from '#src/shared/time/time.ts';
import { parameterKey, type RawParameter, refuseModifier } from '../raw.ts';
import { bounds, parsePrefixedDate } from './dates.ts';
import type { Predicate } from './predicate.ts';

/**
 * Compares a column in microseconds with prefixed dates; one of them must match.
 * @throws Refusal `malformed` for a modifier or a bad date
 */
export function momentPredicate(parameter: RawParameter, column: string, now: Micros): Predicate {
  refuseModifier(parameter);
  const alternatives = parameter.values.map((value) => {
    const { prefix, period } = parsePrefixedDate(parameterKey(parameter), value);
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
