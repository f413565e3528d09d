/** Looks into values of JSON that may be anything: a page's script reads records of others. Pure. */

/** Returns the members of an object; none for anything else. */
export function readMembers(value: unknown): Readonly<Record<string, unknown>> {
  return isMembers(value) ? value : {};
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !('isLosslessNumber' in value)
  );
}

/** Returns the items of a list; a single item is a list of one. */
export function listItems(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

/** Characters that would change the direction of the text behind them. */
const DIRECTIONS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Returns a text without blanks at its ends and without marks of direction; undefined for an empty or any other value. */
export function readText(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.replace(DIRECTIONS, '').trim() : '';
  return text === '' ? undefined : text;
}

/** Returns the words of a CodeableConcept: its text, else a display, else a code. */
export function conceptText(value: unknown): string | undefined {
  const { text, coding } = readMembers(value);
  const codings = listItems(coding).map(readMembers);
  return (
    readText(text) ??
    codings.map(({ display }) => readText(display)).find((display) => display !== undefined) ??
    codings.map(({ code }) => readText(code)).find((code) => code !== undefined)
  );
}
