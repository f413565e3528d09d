/**
 * Defines, as SQL, which values are wide. Partial indexes and the searches that use them must contain exactly the same text.
 */

/** Maximum length of a narrow period in microseconds: one day, so that a date with day precision is narrow. */
export const WIDE_PERIOD = 86_400_000_000;

/**
 * Returns the SQL condition that a row's period is wide.
 * @param row the row's name, with the columns low and high
 */
export function isWidePeriod(row?: string): string {
  const of = row === undefined ? '' : `${row}.`;
  return `${of}high - ${of}low > ${WIDE_PERIOD}`;
}

/**
 * Returns the SQL condition that a row's quantity isn't a single number.
 * @param prefix the prefix of the columns
 */
export function isWideQuantity(row: string | undefined, prefix: 'canonical_' | ''): string {
  const of = row === undefined ? '' : `${row}.`;
  return `${of}${prefix}low <> ${of}${prefix}high`;
}
