/** Reads members of data that come from anywhere as texts, lists and objects, and marks the page's own words in texts. */

/** Returns a list; an empty one for anything else. */
export const list = (value) => (Array.isArray(value) ? value : []);
/** Returns an object; an empty one for anything else. */
export const object = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
/** Marks around the key of one of the page's own texts: characters that no text of a record has. */
const MARKS = ['\ue000', '\ue001'];
/** Returns the mark of one of the page's own texts, which `inWords` replaces. */
export const word = (key) => `${MARKS[0]}${key}${MARKS[1]}`;

/** Returns the mark of a phrase of the reading, which `inWords` replaces. */
export const phraseMark = (phrase) => `${MARKS[0]}${JSON.stringify(phrase)}${MARKS[1]}`;

/** Returns a text with the page's own texts in a language. @param say returns a word by its key */
export function inWords(text, say) {
  return text
    .replace(/\ue000([a-z\d.]+)\ue001/g, (_, key) => say(key))
    .replace(/\ue000(\{[^\ue001]*\})\ue001/g, (_, phrase) => phraseText(JSON.parse(phrase), say));
}

/**
 * Returns a phrase of the reading in words, or a text that the record has instead of a date.
 * @param words keys of the page's own texts, by the names of their places; `when`: a phrase; `earlier`: texts of what was
 *   before, each with a phrase
 */
export function phraseText(
  { key, days = {}, times, state, doses, values, text, before = '', words = {}, when, earlier },
  say,
) {
  const shown = Object.entries(days).map(([name, date]) => [name, say.day(date)]);
  const named = Object.entries(words).map(([name, of]) => [name, say(of)]);
  const worded = () =>
    key === 'known.on'
      ? (shown[0]?.[1] ?? '')
      : say(key, {
          ...Object.fromEntries([...shown, ...named]),
          ...{ times, state, doses, ...values },
          ...(when === undefined ? {} : { when: phraseText(when, say) }),
          ...(earlier === undefined ? {} : { before: earlierText(earlier, say) }),
        });
  return [inWords(before, say), text ?? worded()].filter((part) => part !== '').join(': ');
}

function earlierText(earlier, say) {
  return earlier
    .map(({ text, key, when }) =>
      [text === undefined ? say(key) : inWords(text, say), when === undefined ? '' : phraseText(when, say)]
        .filter((part) => part !== '')
        .join(`${say('shl.comma')} `),
    )
    .join(' | ');
}

/** Characters that would change the direction of the following text, and the marks. */
const UNWANTED = /[\u200e\u200f\u202a-\u202e\u2066-\u2069\ue000\ue001]/g;
/** Returns a text without characters that could change the text around it. */
export const clean = (text) => text.replace(UNWANTED, '').trim();
/** Returns a member as a text of limited length. */
export const string = (value) =>
  typeof value === 'string' || typeof value === 'number' ? clean(String(value)).slice(0, 2_000) : '';
/** The separators of a list, in the page's language. */
export const COMMA = `${word('shl.comma')} `;
export const SEMICOLON = `${word('shl.semicolon')} `;
/** Joins the parts that aren't empty. */
export const joined = (parts, by = COMMA) => parts.filter((part) => part !== '').join(by);
