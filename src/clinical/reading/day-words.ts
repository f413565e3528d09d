/** Writes FHIR dates in words. Also used in the scripts of pages. Pure. */

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * Returns a date in words, with its own precision: `2 May 2011`, `May 2011`, `2011`. For a date-time, the day is used as
 * written. Other text is returned unchanged.
 */
export function dayInWords(lang: string, date: string): string {
  const [, year, month, day] = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T.*)?)?)?$/.exec(date) ?? [];
  if (year === undefined) return date;
  const at = Date.parse(`${year}-${month ?? '01'}-${day ?? '01'}`);
  if (Number.isNaN(at)) return date;
  // The page isolates dates, so direction marks are unnecessary.
  return formatFor(lang, month !== undefined, day !== undefined)
    .format(at)
    .replace(/[\u200e\u200f\u061c]/g, '');
}

function formatFor(lang: string, hasMonth: boolean, hasDay: boolean): Intl.DateTimeFormat {
  const key = `${lang} ${hasMonth} ${hasDay}`;
  const format =
    formats.get(key) ??
    new Intl.DateTimeFormat(lang === 'en' ? 'en-GB' : lang, {
      year: 'numeric',
      month: hasMonth ? 'long' : undefined,
      day: hasDay ? 'numeric' : undefined,
      timeZone: 'UTC',
    });
  formats.set(key, format);
  return format;
}
