/**
 * Defines which values are wide, as SQL: partial indexes and the searches that use them must contain the identical
 * text.
 */

/** Maximum length of a narrow period in microseconds: a day, so that a date with day precision is narrow. */
export const WIDE_PERIOD = 86_400_000_000;

/**
 * Returns the condition that a row's period is wide.
 * @param row the row's name, with the columns low and high
 */
export function isWidePeriod(row?: string): string {
  const of = row === undefined ? '' : `${row}.`;
  return `${of}high - ${of}low > ${WIDE_PERIOD}`;
}

/**
 * Returns the condition that a row's quantity isn't a single number.
 * @param prefix of the columns
 */
export function isWideQuantity(row: string | undefined, prefix: 'canonical_' | ''): string {
  const of = row === undefined ? '' : `${row}.`;
  return `${of}${prefix}low <> ${of}${prefix}high`;
}
