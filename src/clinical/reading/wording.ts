/** Fills in the placeholders and plural forms of texts. Pure. */

/**
 * Placeholders: `{name}`, or `{name|…}` with a form for each of the language's plural categories, in which `#` is the number.
 * The form `none` is used for 0 where the language's own form for 0 sounds odd.
 */
const PLACEHOLDER = /\{([a-z]+)((?:\|[a-z]+:[^|{}]*)*)\}/;

const rules = new Map<string, Intl.PluralRules>();

function pluralRules(locale: string): Intl.PluralRules {
  const known = rules.get(locale) ?? new Intl.PluralRules(locale);
  rules.set(locale, known);
  return known;
}

/**
 * Returns the plural form for a number.
 * @param shown the number as written in the language
 */
function chooseForm(forms: string, value: unknown, locale: string, shown: string): string {
  const count = Number(value);
  const of = new Map(
    forms
      .split('|')
      .slice(1)
      .map((form) => [form.slice(0, form.indexOf(':')), form.slice(form.indexOf(':') + 1)]),
  );
  const none = count === 0 ? of.get('none') : undefined;
  const form = none ?? of.get(pluralRules(locale).select(count)) ?? of.get('other') ?? '#';
  return form.replace('#', () => shown);
}

/**
 * Returns the parts of a text: its words, and the values of its placeholders.
 * @param format returns the number in a plural form, as written in the language
 */
export function fillWording<V>(
  text: string,
  values: Readonly<Record<string, V>>,
  locale: string,
  format: (value: V | '') => string,
): (string | V)[] {
  const parts = text.split(PLACEHOLDER);
  return parts.map((part, i) => {
    if (i % 3 === 0) return part;
    if (i % 3 === 2) return '';
    const value = values[part] ?? '';
    const forms = parts[i + 1] ?? '';
    return forms === '' ? value : chooseForm(forms, value, locale, format(value));
  });
}
