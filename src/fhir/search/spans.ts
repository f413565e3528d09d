/** Which values are wide: SQL that partial indexes and the searches that use them share to the letter. */

/** Periods up to this length are narrow, in microseconds: a day, so that a date to the day is. */
export const WIDE_PERIOD = 86_400_000_000;

/** The condition that rows of a period's columns are longer than that. @param row their name, with the columns low and high */
export function isWidePeriod(row?: string): string {
  const of = row === undefined ? '' : `${row}.`;
  return `${of}high - ${of}low > ${WIDE_PERIOD}`;
}

/** The condition that rows of a quantity's columns are no single number. @param prefix of the columns */
export function isWideQuantity(row: string | undefined, prefix: 'canonical_' | ''): string {
  const of = row === undefined ? '' : `${row}.`;
  return `${of}${prefix}low <> ${of}${prefix}high`;
}
