/**
 * Phrases warnings about values that series and patterns leave out (docs/spec/decisions.md, section 4 "Patient safety"). Pure.
 */

import { withoutIds } from '#src/fhir/search/text.ts';

/** Kinds of warnings. */
export const WARNING_KINDS = ['left_out', 'unit', 'bound', 'same_time', 'preliminary'] as const;

export interface InsightWarning {
  readonly kind: (typeof WARNING_KINDS)[number];
  readonly text: string;
  readonly count: number;
}

/** Counts of values that were left out, and of values that are only known to be beyond a bound. */
export interface Tally {
  readonly withdrawn: number;
  readonly modified: number;
  /** Values that were cancelled or haven't been measured yet. */
  readonly withoutResult: number;
  readonly byAi: number;
  readonly undated: number;
  readonly long: number;
  /** Values dated after the day on which they were recorded; they can't have been measured on that date. */
  readonly future: number;
  /** Values with the requested code but without a number: text, a range, or only components. */
  readonly notNumber: number;
  /** Values that may still change because they are preliminary. */
  readonly preliminary: number;
  /** By unit. */
  readonly unconverted: ReadonlyMap<string, number>;
  /** The unit to which values in other units could not be converted. */
  readonly unit: string | null;
  readonly bounded: number;
  /** Values that have the same time as another value. */
  readonly sameTime: number;
  /** Values that repeat another value for the same time. */
  readonly copies: number;
}

/** Returns the warnings for the counts. */
export function makeWarnings(tally: Tally): InsightWarning[] {
  const { withdrawn, modified, withoutResult, byAi, undated, long, future, notNumber } = tally;
  const { unconverted, unit, bounded, sameTime, copies, preliminary } = tally;
  const leftOut = [
    ['entered in error', withdrawn],
    ['refuted, or with an unknown modifier extension', modified],
    ['cancelled, or not measured yet', withoutResult],
    ['written by an AI', byAi],
    ['without a date', undated],
    ['larger than 200 kB', long],
    ['dated after it was recorded', future],
    ['no single number, such as a text, a range, or only components', notNumber],
  ] as const;
  return [
    ...leftOut.flatMap(([why, count]): InsightWarning[] =>
      count === 0 ? [] : [{ kind: 'left_out', text: `left out: ${why}`, count }],
    ),
    ...[...unconverted]
      .sort(([a], [b]) => (withoutIds(a) < withoutIds(b) ? -1 : 1))
      .map(
        ([own, count]): InsightWarning => ({
          kind: 'unit',
          text: `left out: ${nameUnit(own)} can't be converted to ${nameUnit(unit ?? '')}`,
          count,
        }),
      ),
    ...(bounded === 0
      ? []
      : [
          { kind: 'bound', text: 'only known to be below or above the value shown', count: bounded } as const,
        ]),
    ...(sameTime === 0
      ? []
      : [{ kind: 'same_time', text: 'different values with the same time', count: sameTime } as const]),
    ...(copies === 0
      ? []
      : [
          {
            kind: 'same_time',
            text: 'equal to another value with the same time; patterns and comparisons count them once',
            count: copies,
          } as const,
        ]),
    ...(preliminary === 0
      ? []
      : [
          {
            kind: 'preliminary',
            text: 'preliminary: the value may still change',
            count: preliminary,
          } as const,
        ]),
  ];
}

/** Returns a warning about values left out because of a limit; an empty list if none were left out. */
export function beyond(text: string, count: number): InsightWarning[] {
  return count === 0 ? [] : [{ kind: 'left_out', text, count }];
}

const nameUnit = (unit: string): string => (unit === '' ? 'a number without a unit' : unit);
