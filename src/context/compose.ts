/**
 * Builds a context's sections within a token budget: starts with the facts with the highest scores, then adds whatever still
 * fits. Pure.
 */

import type { AuthorType } from '#src/shared/access/author.ts';
import { cut } from '#src/shared/cut.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Fact } from './fact.ts';
import type { GatheredFacts } from './gather-facts.ts';
import { KINDS, type Kind } from './request.ts';
import type { CountTokens } from './tokenizer.ts';
import type { Warning } from './warnings.ts';

/** A version's author type, and the system from which the version came. */
export interface Authorship {
  readonly authorType: AuthorType;
  readonly source: string | null;
}

/** A fact with its author. */
export interface Authored {
  readonly fact: Fact;
  readonly author: Authorship;
}

/** A section of a context. */
export interface Section {
  readonly kind: Kind;
  /** The number of tokens in the section's text. */
  readonly tokens: number;
  readonly items: readonly Authored[];
  readonly text: string;
  /** Set if the section has no items: explains that the lack of items says nothing about the patient. */
  readonly note: string | undefined;
}

/** The number of a section's facts that were left out, and why. */
export interface Omitted {
  readonly kind: Kind;
  readonly count: number;
  readonly reason: 'budget' | 'window' | 'past';
}

/** A context. */
export interface Composed {
  readonly sections: readonly Section[];
  readonly omitted: readonly Omitted[];
  readonly text: string;
  readonly tokens: number;
}

/** The sections' headings. */
const HEADINGS: Readonly<Record<Kind, string>> = {
  patient: 'Patient',
  allergies: 'Allergies',
  medications: 'Medications',
  problems: 'Problems',
  vitals: 'Vital signs',
  labs: 'Laboratory',
  observations: 'Other findings',
  social_history: 'Social history',
  procedures: 'Procedures',
  encounters: 'Encounters',
  plans: 'Plans',
  immunizations: 'Immunizations',
  documents: 'Documents',
  ai_notes: 'AI notes, not verified',
};

/** The text's last line, if it fits. */
const LEGEND = 'In brackets: who recorded it, through which system.';

/** Scores for warnings and for the legend, on the same scale as facts. */
const WORTH: Readonly<Record<Warning['kind'] | 'legend', number>> = {
  contradiction: 965,
  not_found: 700,
  gap: 560,
  left_out: 540,
  legend: 550,
};

/** After this many consecutive pieces that don't fit, the remaining pieces are skipped. */
const PATIENCE = 40;

/** A context's content other than its items. */
export interface Rest extends Pick<GatheredFacts, 'warnings' | 'empty' | 'outside' | 'past'> {
  /** Facts with lower scores than the items. They are never shown, only counted as omitted. */
  readonly rest?: readonly Fact[];
}

/** The place of a line in the text. */
type Place = Kind | 'warnings' | 'legend';

/** A line that may become part of the text. */
interface Piece {
  readonly of: Place;
  readonly score: number;
  readonly line: string;
  readonly item?: Authored;
}

/** The sections whose currently applicable facts are never left out. */
const NEVER_CUT: readonly Kind[] = ['allergies', 'medications', 'problems'];

/**
 * Fills the budget with lines: first the lines that are never left out, then the lines with the highest scores. The text says
 * how much of each section isn't shown.
 * @param items facts with their authors, the highest score first
 * @param budget maximum number of tokens in the text
 * @throws Refusal invalid (422), naming the smallest possible budget, if allergies, current medicines and active problems
 *   don't
 * fit
 */
export function compose(
  items: readonly Authored[],
  { warnings, empty, outside, past, rest = [] }: Rest,
  budget: number,
  count: CountTokens,
): Composed {
  const headings = makeHeadings(items, empty);
  const headingCosts = new Map([...headings].map(([of, line]) => [of, countTokens(line, count)]));
  const bare: Piece[] = empty.map(({ kind, score }) => ({ of: kind, score, line: '' }));
  const all = [...makePieces(items, warnings), ...bare].sort((a, b) => b.score - a.score);
  const facts = [...items.map(({ fact }) => fact), ...rest];
  const unshown = new Unshown({ facts, warnings: warnings.length, outside, past }, count);
  const chosen = new Set<Piece>();
  const opened = new Set<Place>();
  let used = 0;
  const add = (piece: Piece, most: number): boolean => {
    const heading = opened.has(piece.of) ? 0 : (headingCosts.get(piece.of) ?? 0);
    const cost = countTokens(piece.line, count) + heading;
    if (used + cost + unshown.costWith(piece, opened) > most) return false;
    used += cost;
    opened.add(piece.of);
    chosen.add(piece);
    unshown.take(piece);
    return true;
  };
  for (const piece of all) if (isNeeded(piece)) add(piece, Number.POSITIVE_INFINITY);
  const least = used + unshown.costWith(undefined, opened);
  if (least > budget) throw tooSmall(least);
  let missed = 0;
  for (const piece of all) {
    if (chosen.has(piece)) continue;
    missed = add(piece, budget) ? 0 : missed + 1;
    if (missed > PATIENCE) break;
  }
  return finished(chosen, { items, empty, outside, past, rest, headings, budget, count, warnings });
}

/**
 * Returns whether a line is never left out: a line about the patient, a current fact, or the statement that no such facts are
 * recorded.
 */
function isNeeded({ of, item, line }: Piece): boolean {
  if (item === undefined) return line === '' && NEVER_CUT.some((kind) => kind === of);
  return of === 'patient' || item.fact.isNeeded === true;
}

function tooSmall(least: number): Refusal {
  return new Refusal('invalid', {
    code: 'value',
    diagnostics: `allergies, current medicines and active problems are never left out, and take ${least} tokens: budget_tokens must be ${least} or more`,
    expression: 'budget_tokens',
  });
}

/** Everything that could be shown. */
interface ToShow extends Pick<Rest, 'outside' | 'past'> {
  readonly facts: readonly Fact[];
  /** How many there are. */
  readonly warnings: number;
}

/** Tracks the facts that haven't been shown yet, by section, and the number of tokens that the text about them needs. */
class Unshown {
  readonly #left = new Map<Place, number>();
  /** The entries of each section that have ended and are therefore never shown. */
  readonly #past: ReadonlyMap<Place, number>;
  /** The number of tokens for a section's own line, if the section is open, or for its part of the last line, if it isn't. */
  readonly #costs = new Map<Place, { readonly inside: number; readonly apart: number }>();
  readonly #line: number;

  constructor({ facts, warnings, outside, past }: ToShow, count: CountTokens) {
    this.#past = past;
    for (const { kind } of facts) this.#add(kind, 1);
    for (const [kind, number] of outside) this.#add(kind, number);
    if (warnings > 0) this.#add('warnings', warnings);
    for (const [kind, number] of past) if (number > 0) this.#add(kind, 0);
    for (const [of, left] of this.#left) {
      const over = this.#past.get(of) ?? 0;
      this.#costs.set(of, {
        inside: countTokens(insideLine(left, over), count),
        apart: countTokens(`, ${apartWords(of, left, over)}`, count),
      });
    }
    this.#line = countTokens(apartLine([]), count);
  }

  #add(of: Place, number: number): void {
    this.#left.set(of, (this.#left.get(of) ?? 0) + number);
  }

  /** Counts a line as shown. */
  take({ of, item }: Piece): void {
    const left = this.#left.get(of);
    if (left !== undefined && (item !== undefined || of === 'warnings')) this.#left.set(of, left - 1);
  }

  /** Returns the maximum number of tokens needed to say what isn't shown, if the given line is added to the open sections. */
  costWith(piece: Piece | undefined, opened: ReadonlySet<Place>): number {
    let [cost, isAnyApart] = [0, false];
    for (const [of, left] of this.#left) {
      const isOpen = opened.has(of) || piece?.of === of;
      const isTaken = piece?.of === of && (piece.item !== undefined || of === 'warnings');
      const { inside, apart } = this.#costs.get(of) ?? { inside: 0, apart: 0 };
      if (left - (isTaken ? 1 : 0) <= 0 && (this.#past.get(of) ?? 0) === 0) continue;
      cost += isOpen ? inside : apart;
      isAnyApart ||= !isOpen;
    }
    return cost + (isAnyApart ? this.#line : 0);
  }
}

/**
 * Returns the line that says what isn't shown in a section.
 * @param past the number of entries that have ended
 */
function insideLine(number: number, past: number): string {
  const over = `${past} past ${past === 1 ? 'one' : 'ones'}`;
  const said = past === 0 ? `${number} more` : number === 0 ? over : `${number} more and ${over}`;
  return `- ${said} ${number + past === 1 ? 'is' : 'are'} not shown`;
}

function apartWords(of: Place, number: number, past: number): string {
  const name = of === 'warnings' ? 'Warnings' : of === 'legend' ? '' : HEADINGS[of];
  const said = past === 0 ? `${number}` : number === 0 ? `${past} past` : `${number}, and ${past} past`;
  return `${name.toLowerCase()} (${said})`;
}
const apartLine = (parts: readonly string[]): string => `Not shown: ${parts.join(', ')}.`;

interface Composing extends Required<Rest> {
  readonly items: readonly Authored[];
  readonly headings: ReadonlyMap<Place, string>;
  readonly budget: number;
  readonly count: CountTokens;
}

function finished(chosen: ReadonlySet<Piece>, composing: Composing): Composed {
  const { items, empty, outside, past, rest, headings, count, budget, warnings } = composing;
  const opened = new Set([...chosen].map(({ of }) => of));
  const told = new Set([...chosen].flatMap(({ item }) => item ?? []));
  const omitted = countOmitted(
    [...items.flatMap((item) => (told.has(item) ? [] : [item.fact])), ...rest],
    outside,
    past,
  );
  const unshown = new Map<Place, number>();
  for (const { kind, reason, count: number } of omitted)
    unshown.set(kind, (unshown.get(kind) ?? 0) + (reason === 'past' ? 0 : number));
  const pastIn = (of: Place): number => (of === 'warnings' || of === 'legend' ? 0 : (past.get(of) ?? 0));
  const untold = warnings.length - [...chosen].filter(({ of }) => of === 'warnings').length;
  if (untold > 0) unshown.set('warnings', untold);
  const renderPlace = (of: Place): string => {
    if (!opened.has(of)) return '';
    const left = unshown.get(of);
    const lines = inOrder([...chosen].filter((piece) => piece.of === of)).map(({ line }) => line);
    return [headings.get(of) ?? '', ...lines, left === undefined ? '' : insideLine(left, pastIn(of))]
      .filter((each) => each !== '')
      .join('\n');
  };
  const apart = (['warnings', ...KINDS] as const).flatMap((of) => {
    const left = unshown.get(of);
    return left === undefined || opened.has(of) ? [] : [apartWords(of, left, pastIn(of))];
  });
  const blocks = [
    ...(['patient', 'warnings', ...KINDS.slice(1)] as const).map(renderPlace),
    apart.length === 0 ? '' : apartLine(apart),
    renderPlace('legend'),
  ];
  const text = blocks.filter((block) => block !== '').join('\n');
  const tokens = count(text);
  const last = [...chosen].at(-1);
  if (tokens > budget && last !== undefined) {
    // The costs of the lines normally add up to the cost of the text. If the tokenizer counts differently, the line with the
    // lowest score is dropped.
    if (isNeeded(last)) throw tooSmall(tokens);
    return finished(new Set([...chosen].slice(0, -1)), composing);
  }
  const sections = KINDS.filter((kind) => opened.has(kind)).map((kind): Section => {
    const section = renderPlace(kind);
    const why = empty.find((each) => each.kind === kind)?.why;
    return {
      kind,
      tokens: count(section),
      items: inOrder(
        items.filter((item) => item.fact.kind === kind && told.has(item)).map((item) => ({ item })),
      ).map(({ item }) => item),
      text: section,
      note: why === undefined ? undefined : `${sentence(why)}, which does not say that there are none.`,
    };
  });
  return { sections, omitted, text, tokens };
}

/** Returns a section's lines in order: by the places of the facts, or unchanged if the facts have no places. */
function inOrder<Of extends { readonly item?: Authored }>(some: readonly Of[]): readonly Of[] {
  const readPlace = ({ item }: Of): number => item?.fact.place ?? 0;
  return some.toSorted((a, b) => readPlace(a) - readPlace(b));
}

function countOmitted(
  facts: readonly Fact[],
  outside: ReadonlyMap<Kind, number>,
  past: ReadonlyMap<Kind, number>,
): Omitted[] {
  const counts = new Map<Kind, number>();
  for (const { kind } of facts) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return KINDS.flatMap((kind) => {
    const [budget = 0, window = 0, over = 0] = [counts.get(kind), outside.get(kind), past.get(kind)];
    return [
      ...(budget === 0 ? [] : [{ kind, count: budget, reason: 'budget' as const }]),
      ...(window === 0 ? [] : [{ kind, count: window, reason: 'window' as const }]),
      ...(over === 0 ? [] : [{ kind, count: over, reason: 'past' as const }]),
    ];
  });
}

function makePieces(items: readonly Authored[], warnings: readonly Warning[]): Piece[] {
  const usual = usualAuthors(items);
  return [
    ...items.map((item): Piece => {
      const { kind, text, score } = item.fact;
      const label = labelAuthor(item.author);
      // The patient's line is also its heading.
      if (kind === 'patient') return { of: kind, score, line: `Patient (${label}): ${text}`, item };
      const own = usual.get(kind) === label ? '' : ` (${label})`;
      return { of: kind, score, line: `- ${text}${own}`, item };
    }),
    ...warnings.map(({ kind, text }): Piece => ({ of: 'warnings', score: WORTH[kind], line: `- ${text}` })),
    { of: 'legend', score: WORTH.legend, line: LEGEND },
  ];
}

function makeHeadings(items: readonly Authored[], empty: GatheredFacts['empty']): Map<Place, string> {
  const usual = usualAuthors(items);
  const headings = new Map<Place, string>([['warnings', '## Warnings']]);
  for (const [kind, label] of usual)
    if (kind !== 'patient') headings.set(kind, `## ${HEADINGS[kind]} (${label})`);
  for (const { kind, why } of empty) headings.set(kind, `## ${HEADINGS[kind]}: ${why}`);
  return headings;
}

/** Returns each section's most frequent author, who is named only once, in the heading. */
function usualAuthors(items: readonly Authored[]): Map<Kind, string> {
  const counts = new Map<Kind, Map<string, number>>();
  for (const { fact, author } of items) {
    const of = counts.get(fact.kind) ?? new Map<string, number>();
    counts.set(fact.kind, of.set(labelAuthor(author), (of.get(labelAuthor(author)) ?? 0) + 1));
  }
  const usual = new Map<Kind, string>();
  for (const [kind, of] of counts) {
    const [first] = [...of].sort(([, a], [, b]) => b - a);
    if (first !== undefined) usual.set(kind, first[0]);
  }
  return usual;
}

function labelAuthor({ authorType, source }: Authorship): string {
  return source === null ? authorType : `${authorType}, ${cut(source.replace(/[\s()]+/g, ' '), 60)}`;
}

/** Returns the number of tokens in a line, including its line break. */
function countTokens(line: string, count: CountTokens): number {
  return line === '' ? 0 : count(`${line}\n`);
}

function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
