/**
 * Checks FHIR's dates and times: format, calendar and time zone (https://hl7.org/fhir/R4/datatypes.html#date and below
 * it).
 */

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Returns whether a text is `YYYY`, `YYYY-MM` or `YYYY-MM-DD` and exists in the calendar. */
export function isDate(text: string): boolean {
  return (text.length === 10 || text.length === 7 || text.length === 4) && isCalendarDate(text, text.length);
}

/** Returns whether a text is a date, or a full date with time to the second or finer and a time zone. */
export function isDateTime(text: string): boolean {
  return isDate(text) || isInstant(text);
}

/** Returns whether a text is a full date with time to the second or finer and a time zone. */
export function isInstant(text: string): boolean {
  if (text.length < 20 || !isCalendarDate(text, 10) || text.charCodeAt(10) !== 0x54) return false;
  const end = endOfTime(text, 11);
  if (end < 0) return false;
  const zone = text.charCodeAt(end);
  if (zone === 0x5a) return text.length === end + 1;
  if ((zone !== 0x2b && zone !== 0x2d) || text.length !== end + 6 || text.charCodeAt(end + 3) !== 0x3a)
    return false;
  const hours = number(text, end + 1, 2);
  const minutes = number(text, end + 4, 2);
  return hours >= 0 && minutes >= 0 && minutes < 60 && (hours < 14 || (hours === 14 && minutes === 0));
}

/** Returns whether a text is `hh:mm:ss` with an optional fraction. */
export function isTime(text: string): boolean {
  return endOfTime(text, 0) === text.length;
}

function isCalendarDate(text: string, length: number): boolean {
  const year = number(text, 0, 4);
  if (year < 1) return false;
  if (length === 4) return true;
  const month = number(text, 5, 2);
  if (text.charCodeAt(4) !== 0x2d || month < 1 || month > 12) return false;
  if (length === 7) return true;
  const day = number(text, 8, 2);
  const last = month === 2 && isLeapYear(year) ? 29 : (DAYS[month - 1] ?? 0);
  return text.charCodeAt(7) === 0x2d && day >= 1 && day <= last;
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** Returns the index after a time that begins at `from`; -1 if it is invalid. Leap seconds are allowed. */
function endOfTime(text: string, from: number): number {
  const hours = number(text, from, 2);
  const minutes = number(text, from + 3, 2);
  const seconds = number(text, from + 6, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 60) return -1;
  if (text.charCodeAt(from + 2) !== 0x3a || text.charCodeAt(from + 5) !== 0x3a) return -1;
  let end = from + 8;
  if (text.charCodeAt(end) !== 0x2e) return end;
  const fraction = end + 1;
  end = fraction;
  while (isDigit(text.charCodeAt(end))) end += 1;
  return end === fraction ? -1 : end;
}

function isDigit(c: number): boolean {
  return c >= 0x30 && c <= 0x39;
}

/** Returns the number in `length` digits; -1 if a character is not a digit. */
function number(text: string, from: number, length: number): number {
  let value = 0;
  for (let at = from; at < from + length; at += 1) {
    const c = text.charCodeAt(at);
    if (!isDigit(c)) return -1;
    value = value * 10 + c - 0x30;
  }
  return value;
}
