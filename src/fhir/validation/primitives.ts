/**
 * Validates values of primitive types (https://hl7.org/fhir/R4/datatypes.html#primitive): formats, and dates and times
 * including the calendar and time zone.
 */
import { isNumber, type Json } from '#src/shared/json/json.ts';

/**
 * Returns what is wrong with a value, as the rest of a sentence that begins with the element's name; undefined if the value is
 * valid.
 */
export type PrimitiveTest = (value: Json) => string | undefined;

/** R4: "strings SHALL NOT exceed 1MB (1024*1024 characters) in size". */
const MAX_STRING = 1024 * 1024;
const MAX_INTEGER = 2_147_483_647;

const SUSPECT = /[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]/;
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Returns whether a string contains characters that FHIR forbids: control characters other than tab, CR and LF, and unpaired
 * surrogates.
 */
export function hasForbiddenCharacter(text: string): boolean {
  return SUSPECT.test(text) && (CONTROL.test(text) || LONE_SURROGATE.test(text));
}

function text(isRight: (text: string) => boolean, fault: string, limit = MAX_STRING): PrimitiveTest {
  return (value) => {
    if (typeof value !== 'string') return 'must be a JSON string';
    if (value === '') return 'must not be empty';
    if (value.length > limit) return 'must not be longer than 1,048,576 characters';
    if (hasForbiddenCharacter(value)) return 'must not contain control characters or unpaired surrogates';
    return isRight(value) ? undefined : fault;
  };
}

function matching(pattern: RegExp, fault: string, limit?: number): PrimitiveTest {
  return text((value) => pattern.test(value), fault, limit);
}

function whole(from: number, fault: string): PrimitiveTest {
  return (value) => {
    if (!isNumber(value)) return 'must be a JSON number';
    const literal = String(value);
    const number = Number(literal);
    return /^-?(0|[1-9]\d*)$/.test(literal) && number >= from && number <= MAX_INTEGER ? undefined : fault;
  };
}

const uri = matching(/^\S+$/, 'must be a URI, without whitespace');
const string = text(() => true, '');

/**
 * Checks base64 in one pass, because base64 strings are the longest. Like most decoders, it doesn't check the padding bits of
 * the last group.
 */
function isBase64(value: string): boolean {
  let characters = 0;
  let padding = 0;
  for (let at = 0; at < value.length; at += 1) {
    const c = value.charCodeAt(at);
    if (c === 0x20 || (c >= 0x09 && c <= 0x0d)) continue;
    characters += 1;
    if (c === 0x3d) padding += 1;
    else if (padding > 0 || !isBase64Character(c)) return false;
  }
  return characters > 0 && padding <= 2 && characters % 4 === 0;
}

function isBase64Character(c: number): boolean {
  if (c >= 0x61) return c <= 0x7a;
  if (c >= 0x41) return c <= 0x5a;
  return (c >= 0x2f && c <= 0x39) || c === 0x2b;
}

/** Primitive type → its test. The test for `xhtml` is in `xhtml.ts`. */
export const PRIMITIVE_TESTS: Readonly<Record<string, PrimitiveTest>> = {
  base64Binary: text(isBase64, 'must be base64', Number.POSITIVE_INFINITY),
  boolean: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  canonical: uri,
  code: matching(
    /^[^\s]+( [^\s]+){0,1000}$/,
    'must be a code: no leading or trailing spaces, and only single spaces inside',
  ),
  date: text(isDate, 'must be a valid date: YYYY, YYYY-MM or YYYY-MM-DD'),
  dateTime: text(
    isDateTime,
    'must be a valid date or date-time: YYYY, YYYY-MM, YYYY-MM-DD, or YYYY-MM-DDThh:mm:ss with a time zone, for example 2026-09-01T08:00:00Z',
  ),
  decimal: (value) => (isNumber(value) ? undefined : 'must be a JSON number'),
  id: matching(/^[A-Za-z0-9\-.]{1,64}$/, 'must be 1 to 64 letters, digits, hyphens and dots'),
  instant: text(
    isInstant,
    'must be a valid instant: YYYY-MM-DDThh:mm:ss with a time zone, for example 2026-09-01T08:00:00Z',
  ),
  integer: whole(-MAX_INTEGER - 1, 'must be a whole number from -2147483648 to 2147483647'),
  markdown: string,
  oid: matching(/^urn:oid:[0-2](\.(0|[1-9]\d*)){1,200}$/, 'must be an OID: urn:oid:1.2.3'),
  positiveInt: whole(1, 'must be a whole number from 1 to 2147483647'),
  string,
  time: text(isTime, 'must be a time: hh:mm:ss, without a time zone'),
  unsignedInt: whole(0, 'must be a whole number from 0 to 2147483647'),
  uri,
  url: uri,
  uuid: matching(
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
    'must be a lower-case UUID: urn:uuid:…',
  ),
};

const MEDIA_TYPE =
  /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(\s*;\s*[\w!#$%&'*.^`|~+-]+=([\w!#$%&'*.^`|~+:/-]+|"([^"\\]|\\.){0,1000}")){0,100}$/;

/**
 * Returns whether a value has the syntax of a media type. BCP 13 defines many names and keeps adding more, so only the syntax
 * is checked (docs/spec/decisions.md, section 5 "Writes").
 */
export function isMediaType(value: Json): boolean {
  return typeof value === 'string' && MEDIA_TYPE.test(value);
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Returns whether a string is a `YYYY`, `YYYY-MM` or `YYYY-MM-DD` date that exists in the calendar. */
export function isDate(text: string): boolean {
  return (text.length === 10 || text.length === 7 || text.length === 4) && isCalendarDate(text, text.length);
}

/** Returns whether a string is a date, or a full date with a time zone and a time to the second or finer. */
export function isDateTime(text: string): boolean {
  return isDate(text) || isInstant(text);
}

/** Returns whether a string is a full date with a time zone and a time to the second or finer. */
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

/** Returns whether a string is `hh:mm:ss` with an optional fraction. */
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

/** Returns the index just after the time that begins at `from`; -1 if the time is invalid. Leap seconds are allowed. */
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

/** Returns the number formed by `length` digits; -1 if a character is not a digit. */
function number(text: string, from: number, length: number): number {
  let value = 0;
  for (let at = from; at < from + length; at += 1) {
    const c = text.charCodeAt(at);
    if (!isDigit(c)) return -1;
    value = value * 10 + c - 0x30;
  }
  return value;
}
