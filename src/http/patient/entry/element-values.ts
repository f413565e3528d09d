/** Renders the elements of entries: the name and value of each element, and the differences between two versions. */

import { ageText, readAge } from '#src/clinical/reading/changes.ts';
import { dosesInWords } from '#src/clinical/reading/doses/dose.ts';
import { findCodeSet } from '#src/clinical/reading/names/code-words.ts';
import { findConceptWord } from '#src/clinical/reading/names/concept-word.ts';
import { formatDecimal } from '#src/clinical/reading/numbers/decimal.ts';
import { type Html, html } from '#src/shared/html.ts';
import type { Json } from '#src/shared/json/json.ts';
import { capital } from '../../pages/capital.ts';
import type { Texts } from '../../pages/texts.ts';
import { findLabel } from '../../reading/code-label.ts';
import { dateText } from '../../reading/day-text.ts';
import { elementLabel } from '../../reading/element-words.ts';
import { type ValueWords, wordsOfValue } from './resource-words.ts';

/** Returns the name of a reference's target; undefined if it is unknown. */
export type NameReference = (reference: string) => string | undefined;

/**
 * Returns how values are written: codes that FHIR defines in words, doses, dates, and numbers with all their digits.
 * @param type the type of the resource that contains the values
 */
export function valueWords(say: Texts, type: string, nameReference?: NameReference): ValueWords {
  return {
    lang: say.lang,
    separator: `${say('shl.comma')} `,
    // In a visit's location entry, the location inside it needs no second label.
    label: (name) => (name === 'location' ? undefined : elementLabel(say, name, type)),
    text: (text, name) => {
      const set = findCodeSet(type, name);
      const label = set === undefined ? undefined : findLabel(say, set, text);
      // Some identifiers look like a month, such as lot 2011-05.
      return label ?? (/^\d{4}-\d\d$/.test(text) && !DATES.test(name) ? text : wordsOfDate(say, text));
    },
    concept: (value, name) => {
      const word = findConceptWord(say.lang, value, findCodeSet(type, name));
      return word === undefined ? undefined : capital(say, word);
    },
    age: (value, name) => {
      const [element] = (AGES.exec(name) ?? []).slice(1).filter((each) => each !== undefined);
      const age = element === undefined ? undefined : readAge(value);
      if (age === undefined) return undefined;
      const words = ageText(say.lang, age);
      const key = AGE_KEYS.find(([each]) => each === element)?.[1];
      return key === undefined ? words : say(key, { age: words });
    },
    dose: (value) => dosesInWords(value, { lang: say.lang, day: (date) => wordsOfDate(say, date) }),
    number: (literal) => formatDecimal(literal, say.lang),
    truth: (is) => say(is ? 'results.yes' : 'results.no'),
    reference: (reference) => nameReference?.(reference),
    more: (count) => say('element.more', { more: count }),
  };
}

/** Names of elements that are ages: Age, or a Range of ages. */
const AGES = /^(?:(.+)Age|(onset|abatement|performed)Range|(age))$/;
/** What the age in an element means. */
const AGE_KEYS = [
  ['onset', 'known.onsetage'],
  ['abatement', 'known.endage'],
  ['performed', 'known.performedage'],
] as const;

/** Names of elements that are dates, or the start or end of a period. */
const DATES = /(?:date|datetime|start|end|created|recorded|authoredOn|lastOccurrence)$/i;

/** Returns a FHIR date or date-time in words, with its original day, time and offset; returns any other text unchanged. */
function wordsOfDate(say: Texts, text: string): string {
  const [, day, time, zone] =
    /^(\d{4}-\d\d(?:-\d\d)?)(?:T(\d\d:\d\d)(?::[\d.]+)?(Z|[+-]\d\d:\d\d))?$/.exec(text) ?? [];
  if (day === undefined || Number.isNaN(Date.parse(day))) return text;
  if (time === undefined) return dateText(say, day);
  return `${say.shortDay(Date.parse(day))}${say('shl.comma')} ${time} UTC${/[1-9]/.test(zone ?? '') ? zone : ''}`;
}

/** Returns an element's name, for the header of its row. */
export function elementHead(say: Texts, name: string, type: string): Html {
  const label = elementLabel(say, name, type);
  return label === undefined
    ? html`${say('element.other')} <span class="quiet small" lang="en" dir="ltr">${name}</span>`
    : html`${label}`;
}

/** Two states of an element. */
interface States {
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/**
 * Returns the row for an element that was added, changed or removed.
 * @param same shown if the two states have the same wording
 */
export function changeRow(
  say: Texts,
  type: string,
  name: string,
  { before, after }: States,
  {
    words,
    hasBefore,
    same,
  }: { readonly words: ValueWords; readonly hasBefore: boolean; readonly same: string },
): Html {
  const [was, is] = [before, after].map((value) =>
    value === undefined ? undefined : wordsOfValue(value, name, words),
  );
  const cell = (shown: Html | undefined, tag: 'ins' | 'del'): Html => {
    if (shown === undefined) return html`–`;
    return tag === 'ins' ? html`<ins>${shown}</ins>` : html`<del>${shown}</del>`;
  };
  const isSame = hasBefore && was?.text === is?.text;
  const cells = isSame
    ? html`<td colspan="2"><span class="quiet">${same}</span></td>`
    : html`${hasBefore ? html`<td>${cell(was, 'del')}</td>` : html``}<td>${cell(is, 'ins')}</td>`;
  return html`<tr><th scope="row">${elementHead(say, name, type)}</th>
${cells}</tr>
`;
}
