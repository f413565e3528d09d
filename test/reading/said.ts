/** Reads what views say about an item, in the form of a second reading (second-dates.ts), and compares the two. */
import { expect } from 'chai';
import type { Says } from './second-dates.ts';
import type { Stated, ToldMedicine } from './second-reading.ts';

/** A view's statements about an item; anything that the view doesn't show is undefined. */
export interface Said {
  /** In small letters. */
  readonly name?: string | undefined;
  /** The versions or entries that the statement is based on, separated by spaces. */
  readonly sources?: string | undefined;
  readonly state?: string | undefined;
  readonly certainty?: string | undefined;
  /** Undefined if a view shows no dates. */
  readonly says?: readonly string[] | undefined;
  /** All of it. */
  readonly text: string;
}

const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];

/** Returns a text with its English days written as in FHIR. */
export function withIsoDays(text: string): string {
  return text.replace(
    new RegExp(`(?:(\\d{1,2}) )?(${MONTHS.join('|')}) (\\d{4})`, 'g'),
    (_, day: string | undefined, month: string, year: string) => {
      const number = String(MONTHS.indexOf(month) + 1).padStart(2, '0');
      return `${year}-${number}${day === undefined ? '' : `-${day.padStart(2, '0')}`}`;
    },
  );
}

const DAY = '(\\d{4}(?:-\\d\\d(?:-\\d\\d)?)?)';
/** Phrases from views, and their meanings. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [`taken ${DAY} to ${DAY}`, 'taken $1 to $2'],
  [`taken (from|since|until|on) ${DAY}`, 'taken $1 $2'],
  [`taken from ${DAY}, planned until ${DAY}`, 'taken from $1, planned until $2'],
  [`planned from ${DAY} to ${DAY}`, 'planned from $1 to $2'],
  [`planned (from|until) ${DAY}`, 'planned $1 $2'],
  ['also planned', 'also planned'],
  [`also planned from ${DAY}`, 'also planned from $1'],
  [`prescribed (?:on )?${DAY} and (?:on )?${DAY}`, 'prescribed $1 and $2'],
  [`prescribed (\\d+) times on ${DAY}`, 'prescribed $1 times on $2'],
  [`prescribed (\\d+) times, ${DAY} to ${DAY}`, 'prescribed $1 times, $2 to $3'],
  [`(prescribed|ordered|recorded|reported|last reaction|since|until) ${DAY}`, '$1 $2'],
  [`(?:${DAY}) to (?:${DAY})`, 'since $1|until $2'],
  [`began ${DAY}`, 'since $1'],
  ['recorded (\\d+) times', '$1 times'],
  [`recorded (\\d+) times, (first|last) began ${DAY}`, '$1 times|$2 began $3'],
  [`no date; entered ${DAY}`, 'no date'],
  [`also recorded as (“[^”]+”|[a-z ]+?)((?: on ${DAY})?(?: \\(prescription.*\\))?)`, 'also recorded as $1$2'],
  ['(?:since the age of|began at the age of|age at onset:) (\\d+ \\w+)', 'since age $1'],
  ['(?:until the age of|ended at the age of|age at end:) (\\d+ \\w+)', 'until age $1'],
  ['onset:? “?([^”]+?)”?', 'onset $1'],
  ['end:? “?([^”]+?)”?', 'end $1'],
].map(([form = '', meaning = '']) => [new RegExp(`^${form}$`), meaning]);

/** Returns the phrases among the parts of a text; other parts are ignored. */
export function phrasesIn(parts: readonly string[]): string[] {
  return parts.flatMap((part) => {
    const text = withIsoDays(part.trim());
    const [form, meaning] = PHRASES.find(([form]) => form.test(text)) ?? [];
    if (form === undefined || meaning === undefined) return [];
    const denied = /^also recorded as (?:“([^”]+)”|([a-z ]+?))((?: on [\d-]+)?(?: \(.*\))?)$/.exec(text);
    if (denied === null) return text.replace(form, meaning).split('|');
    return [`also recorded as ${medicineCode(denied[1] ?? denied[2] ?? '')}${denied[3] ?? ''}`];
  });
}

/** English words for the codes of medication-statement-status and medicationrequest-status. */
const MEDICINE: Readonly<Record<string, string>> = {
  current: 'active',
  'on hold': 'on-hold',
  planned: 'intended',
  'not taken': 'not-taken',
  'status unknown': 'unknown',
  'state not recorded': 'unknown',
};
const medicineCode = (word: string): string => MEDICINE[word.toLowerCase()] ?? word.toLowerCase();

/** Returns a medicine's state; undefined for any other text. */
export function medicineState(text: string): string | undefined {
  if (/^not to be given$/i.test(text)) return 'forbidden';
  const [, unclear] = /^recorded as “?(.+?)”?, but its (?:period|time) is over$/i.exec(text) ?? [];
  if (unclear !== undefined) return `unclear ${medicineCode(unclear)}`;
  const [, then] = /^recorded as “?(.+?)”? \(person deceased\)$/i.exec(text) ?? [];
  if (then !== undefined) return `before death ${medicineCode(then)}`;
  const code = medicineCode(text);
  const known = ['active', 'completed', 'stopped', 'on-hold', 'intended', 'not-taken', 'unknown'];
  return known.includes(code) ? code : undefined;
}

/** English words for the codes of condition-clinical. */
const CLINICAL: Readonly<Record<string, string>> = {
  active: 'active',
  'came back': 'recurrence',
  relapse: 'relapse',
  'not active': 'inactive',
  'in remission': 'remission',
  resolved: 'resolved',
};

/** Returns the clinical status that the given words stand for; undefined for any other text. */
export function clinicalState(text: string): string | undefined {
  const [, then] = /^recorded as “?(.+?)”? \(person deceased\)$/i.exec(text) ?? [];
  if (then === undefined) return CLINICAL[text.toLowerCase()];
  return `before death ${CLINICAL[then.toLowerCase()] ?? then}`;
}

/** English words for the codes of condition-ver-status. */
const CERTAINTY: Readonly<Record<string, string>> = {
  'not confirmed': 'unconfirmed',
  provisional: 'provisional',
  'one of several possibilities': 'differential',
};

/** Returns the verification status that one of the given texts stands for; an empty text if none does. */
export function certaintyIn(parts: readonly string[]): string {
  return parts.flatMap((part) => CERTAINTY[part.trim().toLowerCase()] ?? [])[0] ?? '';
}

/** Matches the names shown for a medicine without a name. */
const NAMELESS = /^(?:medication without a name|entry without a name|not named|)$/i;

/** Returns how a view's statement differs from the expected statement; undefined if they agree. */
function differs(told: Stated & Partial<ToldMedicine>, said: Said): string | undefined {
  const { name, sources, state, certainty, says, text } = said;
  if (name !== undefined && !isNamed(told, name, text)) return `name: ${name}`;
  if (sources !== undefined && told.sources.join(' ') !== sources) return `sources: ${sources}`;
  if (state !== undefined && !(told.states.length === 0 ? [''] : told.states).includes(state))
    return `state: ${state}, not ${told.states.join('|')}`;
  if (certainty !== undefined && (told.certainty ?? '') !== certainty) return `certainty: ${certainty}`;
  if (says === undefined) return undefined;
  if (told.isDenied === true && !says.some((each) => each.startsWith('also recorded as')))
    return 'a denial isn’t told';
  const dated = says.filter((each) => each !== 'no date');
  if (dated.length < says.length && told.says.every(hasDate)) return 'it has a date';
  return told.says.some((each) => isSaid(each, dated)) ? undefined : `dates: ${says.join('; ')}`;
}

function isNamed({ name, names }: Stated & Partial<ToldMedicine>, said: string, text: string): boolean {
  if (names === undefined) return name.toLowerCase() === said || (name === '' && NAMELESS.test(said));
  if (names.length === 0) return NAMELESS.test(said);
  const rest = [...names]
    .sort((a, b) => b.length - a.length)
    .reduce((left, each) => left.replace(each, ''), said);
  return /^[\s/]*$/.test(rest) && rest !== said && names.every((each) => text.toLowerCase().includes(each));
}

const hasDate = ({ may }: Says): boolean => may.some((each) => !/times$|^also /.test(each));

const isSaid = ({ must, may }: Says, said: readonly string[]): boolean =>
  must.every((each) => said.includes(each)) && said.every((each) => may.includes(each));

/**
 * Returns, for each statement of a view, the index of the expected statement that it is paired with. Statements are paired so
 * that as many as possible match; undefined for a statement that remains unpaired.
 */
function match(told: readonly Stated[], said: readonly Said[]): (number | undefined)[] {
  const fits = said.map((each) =>
    told.flatMap((other, n) => (differs(other, each) === undefined ? [n] : [])),
  );
  const takenBy = new Map<number, number>();
  const take = (at: number, tried: Set<number>): boolean =>
    (fits[at] ?? []).some((n) => {
      if (tried.has(n)) return false;
      tried.add(n);
      const by = takenBy.get(n);
      if (by !== undefined && !take(by, tried)) return false;
      takenBy.set(n, at);
      return true;
    });
  for (const at of said.keys()) take(at, new Set());
  const places = new Map([...takenBy].map(([n, at]) => [at, n]));
  return said.map((_, at) => places.get(at));
}

/** Checks that everything that a view says was expected, and is said only once. The view may leave things out. */
export function expectAmong(told: readonly Stated[], said: readonly Said[], where: string): void {
  const places = match(told, said);
  const wrong = said.filter((_, at) => places[at] === undefined);
  if (wrong.length === 0) return;
  const left = told.filter((_, n) => !places.includes(n));
  const [first] = wrong;
  const why = left
    .filter(({ name }) => first?.name === undefined || first.name.includes(name.toLowerCase()))
    .map((each) => `${JSON.stringify(each)}: ${first === undefined ? '' : differs(each, first)}`);
  expect.fail(`${where}: ${JSON.stringify(first)} is not told\n${why.join('\n') || JSON.stringify(left)}`);
}

/** Checks that a view says everything that was expected, and nothing else. */
export function expectSaid(told: readonly Stated[], said: readonly Said[], where: string): void {
  expectAmong(told, said, where);
  const places = match(told, said);
  expect(
    told.filter((_, n) => !places.includes(n)),
    `${where}: not said`,
  ).to.deep.equal([]);
}
