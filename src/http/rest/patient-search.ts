/** Finds patients by name, birth date or identifier, using FHIR's patient search. */
import { z } from 'zod';
import { folded } from '#src/fhir/search/text.ts';
import { escaped, makeToken } from './list.ts';
import { date } from './schemas.ts';

/** Maximum number of words in a name that are searched for; the rest are ignored. */
const WORDS = 10;

/** Filters for the list of patients. */
export const FILTERS = {
  q: z
    .string()
    .max(200)
    .refine((typed) => splitWords(typed).length > 0, 'must have a letter or a digit')
    .optional()
    .describe(
      'A name. Each word begins a given name, a family name or another part of the name, in any order. Case and accents are ignored.',
    ),
  birth_date: date.optional().describe('The birth date.'),
  identifier: z
    .string()
    .max(1_000)
    .regex(/^(?:[^|]+|[^|]*\|[\s\S]+)$/, 'must be a value or system|value')
    .optional()
    .describe('An identifier: its value, or `system|value`.'),
};

/** The filters. Absent filters aren't applied. */
interface Asked {
  readonly q?: string | undefined;
  readonly birth_date?: string | undefined;
  readonly identifier?: string | undefined;
}

type Criterion = readonly [name: string, value: string];

/**
 * Returns FHIR search parameters for the filters. The first one is used to look up the patients, so it should have the fewest
 * matches.
 */
export function buildCriteria({ q, birth_date, identifier }: Asked): readonly Criterion[] {
  return [
    ...(identifier === undefined ? [] : [['identifier', writeIdentifier(identifier)] as const]),
    ...(birth_date === undefined ? [] : [['birthdate', birth_date] as const]),
    ...(q === undefined ? [] : matchWords(splitWords(q))),
  ];
}

/** Returns the words in a name that can be searched for. */
function splitWords(typed: string): readonly string[] {
  const words = typed.split(/[\s,;]+/).filter((word) => folded(word) !== '');
  return words.filter((_, n) => n < WORDS);
}

/**
 * Returns one parameter for each word, longest word first. A word must begin a part of the name, or be the last of several
 * words that together begin such a part: `van der Berg` is a single part.
 */
function matchWords(words: readonly string[]): readonly Criterion[] {
  const length = (place: number): number => words[place]?.length ?? 0;
  const places = words.map((_, place) => place).toSorted((one, other) => length(other) - length(one));
  return places.map((last) => {
    const runs = words.slice(0, last + 1).map((_, first) => words.slice(first, last + 1).join(' '));
    return ['name', runs.map(escaped).toReversed().join()];
  });
}

function writeIdentifier(text: string): string {
  const bar = text.indexOf('|');
  return bar < 0 ? escaped(text) : makeToken(text.slice(0, bar), text.slice(bar + 1));
}
