/** Times in the browser's input fields: local time, to the second. */

/** Returns a time in the form that a browser's input field accepts. */
export function toLocal(moment: Date): string {
  const local = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

/**
 * Returns the time that a field means. If the field is unchanged, the value stays as it was, including fractions of a second.
 * @param field the field's content
 * @param shown the content that was shown
 * @param asked the time for which it was shown
 */
export function toAsked(field: string, shown: string, asked = ''): string {
  if (field === '') return '';
  return Date.parse(field) === Date.parse(shown) ? asked : new Date(field).toISOString();
}
