/**
 * Bounds on values that are ranges, sorted by where they begin. Narrow ranges end close to where they begin, so a bound on one
 * end also bounds the other. Wide ranges are usually few and have a separate index.
 */
import { isWidePeriod, isWideQuantity, WIDE_PERIOD } from '#src/fhir/search/spans.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { Binds } from '../../database/binds.ts';

/** A condition that sets a lower bound for where ranges end. Without it, an index sorted by beginnings limits only one side. */
export interface Span {
  /** The column by which narrow values are sorted and bounded. */
  readonly column: string;
  /** The SQL condition that a value is wide, the same as in the indexes on wide values. */
  readonly isWide: string;
  /** Returns the SQL condition that the span implies for narrow values. */
  narrow(binds: Binds): string;
  /** Returns the SQL condition that the span implies for wide values. */
  wide(binds: Binds): string;
}

/** Returns the span of periods `p` that end at or after a given time. */
export function periodsFrom(moment: Micros): Span {
  const bound = Math.round(moment);
  return {
    column: 'low',
    isWide: isWidePeriod('p'),
    narrow: (binds) => `p.low >= ${binds.add(bound - WIDE_PERIOD, 'int8')}`,
    wide: (binds) => `p.high >= ${binds.add(bound, 'int8')}`,
  };
}

/**
 * Returns the span of quantities `q` that end at or above a number.
 * @param prefix the columns' prefix: `canonical_`, or empty
 * @param number as decimal text
 */
export function quantitiesFrom(prefix: 'canonical_' | '', number: string): Span {
  const [low, high] = [`q.${prefix}low`, `q.${prefix}high`];
  return {
    column: `${prefix}low`,
    isWide: isWideQuantity('q', prefix),
    narrow: (binds) => `${low} >= ${binds.add(number, 'numeric')}`,
    wide: (binds) => `${high} >= ${binds.add(number, 'numeric')}`,
  };
}

/** Returns the span of values that meet two conditions; if the columns of the two spans differ, returns the first span. */
export function both(one: Span | undefined, other: Span | undefined): Span | undefined {
  if (one === undefined || other === undefined || one.isWide !== other.isWide) return one ?? other;
  return {
    column: one.column,
    isWide: one.isWide,
    narrow: (binds) => `${one.narrow(binds)} and ${other.narrow(binds)}`,
    wide: (binds) => `${one.wide(binds)} and ${other.wide(binds)}`,
  };
}

/** Splits a condition into disjoint conditions that together match the same values, so that each can use its own index. */
export function parts(span: Span | undefined, condition: (binds: Binds) => string, binds: Binds): string[] {
  if (span === undefined) return [`(${condition(binds)})`];
  return [
    `not (${span.isWide}) and ${span.narrow(binds)} and (${condition(binds)})`,
    `${span.isWide} and ${span.wide(binds)} and (${condition(binds)})`,
  ];
}
