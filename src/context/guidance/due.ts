/** Defines the intervals after which a finding is due again. */
import type { GuidelineName } from './guidelines.ts';
import type { Measure } from './measures.ts';

/** A finding that must be repeated while an illness or a drug lasts. */
export interface Due {
  /** Any one of these measures is enough. */
  readonly measures: readonly Measure[];
  /** The finding's name in a warning. */
  readonly name: string;
  /** A warning is given if the newest value is older than this. Never shorter than the longest interval in the guideline. */
  readonly days: number;
  /** The guideline that requires the finding. */
  readonly source: GuidelineName;
  /** The interval, in the guideline's own words. */
  readonly asks: string;
}

/** The number of days in the longest year. */
export const YEAR = 366;

/** The number of days in the longest six months. */
export const HALF_YEAR = 184;

/** The guideline that requires a finding, and the interval that it names. */
export type Basis = readonly [source: GuidelineName, asks: string];

/** Returns a rule that one of the given findings is due after a number of days. */
export const due = (
  name: string,
  days: number,
  [source, asks]: Basis,
  ...measures: readonly Measure[]
): Due => ({ name, days, measures, source, asks });

/** Returns a rule that creatinine or filtration is due after a year. */
export const kidneysDue = (...basis: Basis): Due =>
  due('creatinine or filtration', YEAR, basis, 'creatinine', 'filtration');

/** Returns a rule that potassium is due after a year. */
export const potassiumDue = (...basis: Basis): Due => due('potassium', YEAR, basis, 'potassium');
