/** Finds time zones by their IANA names: https://www.iana.org/time-zones */

/** The offset of a local time in a zone. */
export interface ZoneOffset {
  /** `+02:00` */
  readonly offset: string;
  /** True if the clocks skip this time; the offset is then the one that applied before the change. */
  readonly skipped: boolean;
}

/** Returns the offset of a local time such as `2026-03-31T09:30:00`. */
export type Zone = (local: string) => ZoneOffset;

const DAY = 86_400_000;
const MINUTE = 60_000;
/** Matches names like `Europe/Oslo` and `UTC`; offsets aren't names. */
const NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/;

/**
 * Returns the zone with the given name; undefined if there is none. If a local time occurs twice, the zone returns the offset
 * of the earlier one.
 * @param name as in the IANA database, `Europe/Oslo`
 */
export function zoneNamed(name: string): Zone | undefined {
  if (!NAME.test(name)) return undefined;
  const format = makeFormat(name);
  if (format === undefined) return undefined;
  return (local) => {
    const said = Date.parse(`${local}Z`);
    if (Number.isNaN(said)) return { offset: 'Z', skipped: false };
    const before = minutesAt(format, said - DAY);
    const after = minutesAt(format, said + DAY);
    // The larger offset results in the earlier instant.
    const valid = [Math.max(before, after), Math.min(before, after)].find(
      (minutes) => minutesAt(format, said - minutes * MINUTE) === minutes,
    );
    return { offset: offsetText(valid ?? before), skipped: valid === undefined };
  };
}

function makeFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      ...{ timeZone, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' },
      ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
  } catch {
    return undefined;
  }
}

/** Returns the offset in minutes at the given instant, in ms since 1970. */
function minutesAt(format: Intl.DateTimeFormat, instant: number): number {
  const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const [year = 0, month = 1, day, hour, minute, second] = (
    ['year', 'month', 'day', 'hour', 'minute', 'second'] as const
  ).map((type) => parts.get(type));
  const local = Date.UTC(year, month - 1, day, hour, minute, second);
  return Math.round((local - Math.floor(instant / 1_000) * 1_000) / MINUTE);
}

function offsetText(minutes: number): string {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
}
