/** Converts FHIR dates to time ranges; a date without an offset is in UTC. https://hl7.org/fhir/R4/search.html#date */
import { type Micros, toMicros } from '#src/shared/time/time.ts';

/** The range of times that the text of a date stands for: [from, to). */
export interface Period {
  readonly from: Micros;
  readonly to: Micros;
  /** True if the text is more precise than a microsecond: its exact time is between `from` and `to`. */
  readonly isWithin?: true;
}

const DATE =
  /^(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01])(?:T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d|60)(\.\d{1,40})?)?(Z|[+ -](?:0\d|1[0-4]):[0-5]\d)?)?)?)?$/;

/**
 * Returns the period that a FHIR date, dateTime or instant stands for: `2024` is a year, `2024-05-01T10:00:00Z` a second;
 * undefined for other text.
 */
export function parsePeriod(text: string): Period | undefined {
  const [, year, month, day, hour, minute, second, fraction, offset] = DATE.exec(text) ?? [];
  if (year === undefined) return undefined;
  if (month === undefined) return between(`${year}-01-01`, `${next(year)}-01-01`);
  if (day === undefined) {
    const following =
      month === '12' ? `${next(year)}-01` : `${year}-${String(Number(month) + 1).padStart(2, '0')}`;
    return between(`${year}-${month}-01`, `${following}-01`);
  }
  const midnight = toMicros(`${year}-${month}-${day}T00:00:00Z`);
  // Date.parse turns 30 February into a day in March, but such a date is invalid.
  if (Number.isNaN(midnight) || new Date(midnight / 1000).getUTCDate() !== Number(day)) return undefined;
  if (hour === undefined) return { from: midnight, to: midnight + 86_400_000_000 };
  // A plus sign that wasn't percent-encoded arrives as a space.
  const zone = (offset ?? 'Z').replace(' ', '+');
  const minuteStart = toMicros(`${year}-${month}-${day}T${hour}:${minute}:00${zone}`);
  if (second === undefined) return { from: minuteStart, to: minuteStart + 60_000_000 };
  const from = minuteStart + Number(second) * 1_000_000;
  if (fraction === undefined) return { from, to: from + 1_000_000 };
  const digits = fraction.slice(1, 7);
  const exact = from + Number(digits.padEnd(6, '0'));
  const isWithin = /[1-9]/.test(fraction.slice(7)) ? { isWithin: true as const } : {};
  return { from: exact, to: exact + 10 ** (6 - digits.length), ...isWithin };
}

function between(first: string, second: string): Period {
  return { from: toMicros(`${first}T00:00:00Z`), to: toMicros(`${second}T00:00:00Z`) };
}

/** Returns the following year in a form that Date.parse accepts; the year after 9999 needs a sign and six digits. */
function next(year: string): string {
  return year === '9999' ? '+010000' : String(Number(year) + 1).padStart(4, '0');
}
