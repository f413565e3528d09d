/**
 * The significance levels for findings. Among records in which nothing happens, at most 2 % may have any finding. The levels
 * below are for a whole record, and are divided by the number of tests of their kind that the record allows (Bonferroni). That
 * number depends on how many values there are, not on the values themselves: a corrected value can't make a finding about
 * other values appear or disappear, as it could if p-values were compared with each other.
 */
export const LEVELS = {
  /** Trends: for all series. */
  trend: 0.01,
  /** Changes of level: for all series. */
  change: 0.005,
  /** Gaps: for all series and their intervals. */
  gap: 0.001,
  /** Daily and weekly rhythms: for all series, twice. */
  rhythm: 0.001,
  /** Pairs of series: for all pairs and lags. */
  pair: 0.003,
  /** Starts of medications: for all starts and series. */
  start: 0.002,
} as const;

/** Minimum number of values for each kind of finding. */
export const LEAST = {
  trend: 8,
  /** A side. */
  change: 8,
  /** Intervals. */
  gap: 12,
  run: 4,
  pair: 20,
  /** Both before and after the start of a medication. */
  start: 8,
  rhythm: 56,
} as const;
