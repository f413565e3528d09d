/** How old the newest value of what an illness or a drug is watched by may be. */
import type { Measure } from './measures.ts';

/** A finding that is due. */
export interface Due {
  /** Any one of these will do. */
  readonly measures: readonly Measure[];
  /** As a reader says it. */
  readonly name: string;
  readonly days: number;
}

/** Days of a year. */
export const YEAR = 365;

/** One of these, at least every so many days. */
export const due = (name: string, days: number, ...measures: readonly Measure[]): Due => ({
  name,
  days,
  measures,
});

/** What drugs and illnesses that kidneys bear on take. */
export const KIDNEYS = due('creatinine or filtration', YEAR, 'creatinine', 'filtration');
