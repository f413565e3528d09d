/**
 * The significance levels for findings. At most 2 % of records in which nothing happens may have any finding. The levels below
 * apply to a whole record. Each is divided by the number of tests of its kind that the record allows (Bonferroni). That number
 * depends on how many values there are, not on the values themselves, so correcting a value can't make a finding about other
 * values appear or disappear. It could if p-values were compared with each other.
 */
export const LEVELS = {
  /** Trends: for all series together. */
  trend: 0.01,
  /** Changes of level: for all series together. */
  change: 0.005,
  /** Gaps: for all series and their intervals together. */
  gap: 0.001,
  /** Daily and weekly rhythms: for all series together, with two tests for each series. */
  rhythm: 0.001,
  /** Pairs of series: for all pairs and lags together. */
  pair: 0.003,
  /** Starts of medications: for all starts and series together. */
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
  /** On each side: before and after the start of a medication. */
  start: 8,
  rhythm: 56,
} as const;
