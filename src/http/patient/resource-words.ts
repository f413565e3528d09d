/** FHIR content in words, for people: what a resource is about, and the value of any element. Pure. */
import { isObject, type Json } from '#src/shared/json.ts';
import { unitText } from './units.ts';

/** Elements with the concept that a resource is about. */
const CONCEPTS = ['code', 'medicationCodeableConcept', 'vaccineCode', 'type', 'description'] as const;

/** Returns what a resource is about; undefined if it doesn't say. */
export function titleOfResource(resource: Readonly<Record<string, Json>>): string | undefined {
  for (const name of CONCEPTS) {
    const value = resource[name];
    const words = conceptWords(Array.isArray(value) ? value[0] : value);
    if (words !== undefined) return words;
  }
  return undefined;
}

/** Returns the words of a CodeableConcept, a Coding or a text. */
function conceptWords(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (!isObject(value)) return undefined;
  const { text, display, coding, code } = value;
  if (typeof text === 'string') return text;
  if (typeof display === 'string') return display;
  if (Array.isArray(coding)) {
    const all = coding.map(conceptWords).filter((each) => each !== undefined);
    return all[0];
  }
  return typeof code === 'string' ? code : undefined;
}

/** Characters with names of their own in XML. */
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

/** Returns the text of a narrative (XHTML) without its tags. */
export function wordsOfNarrative(div: string): string {
  return div
    .replace(/<[^>]*>/g, ' ')
    .replace(/&([a-z]+);/g, (whole, name: string) => ENTITIES[name] ?? whole)
    .replace(/\s+/g, ' ')
    .trim();
}

/** How the parts of a value are written in a language. */
export interface ValueWords {
  /** Between two parts: a comma and a space. */
  readonly separator: string;
  /** Returns the name of a part; undefined for one without: then its value stands alone. */
  readonly label: (name: string) => string | undefined;
  /** Returns a text of the record in words, such as a date or a code of a state. */
  readonly text: (text: string) => string;
}

/** Members that say where a value comes from, and nothing about it. */
const UNSAID: readonly string[] = ['system', 'id', 'reference', 'userSelected', 'version'];

/** Returns the value of an element in words. What it leaves out is among the details of the page. */
export function wordsOfValue(value: Json, words: ValueWords): string {
  if (value === null) return '–';
  if (Array.isArray(value)) return value.map((each) => wordsOfValue(each, words)).join(words.separator);
  if (typeof value === 'string') return words.text(value);
  if (!isObject(value)) return String(value);
  if (typeof value.div === 'string') return wordsOfNarrative(value.div);
  const said = conceptWords(value);
  const concept = said === undefined ? undefined : words.text(said);
  if (concept !== undefined && value.value === undefined) return concept;
  const { value: amount, unit, code } = value;
  if (typeof amount === 'number' || typeof amount === 'string') {
    const of = typeof unit === 'string' ? unit : typeof code === 'string' ? code : '';
    return `${amount} ${unitText(of)}`.trim();
  }
  const members = Object.entries(value).filter(([name]) => !UNSAID.includes(name));
  return (members.length === 0 ? Object.entries(value) : members)
    .map(([name, each]) => {
      const label = words.label(name);
      return label === undefined ? wordsOfValue(each, words) : `${label}: ${wordsOfValue(each, words)}`;
    })
    .join(words.separator);
}
