/**
 * Builds the sections of a context within a budget of tokens: the highest scores first, then whatever still fits. Pure.
 */

import type { AuthorType } from '#src/shared/author.ts';
import { cut } from '#src/shared/cut.ts';
import type { Fact } from './fact.ts';
import type { GatheredFacts } from './gather-facts.ts';
import { KINDS, type Kind } from './request.ts';
import type { CountTokens } from './tokenizer.ts';
import type { Warning } from './warnings.ts';

/** The author type of a version, and the system it came from. */
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
  /** Tokens of the section's text. */
  readonly tokens: number;
  readonly items: readonly Authored[];
  readonly text: string;
  /** Set for a section without items: it says that this says nothing about the patient. */
  readonly note: string | undefined;
}

/** The number of facts of a section that were left out, and why. */
export interface Omitted {
  readonly kind: Kind;
  readonly count: number;
  readonly reason: 'budget' | 'window';
}

/** A context. */
export interface Composed {
  readonly sections: readonly Section[];
  readonly omitted: readonly Omitted[];
  readonly text: string;
  readonly tokens: number;
}

/** Headings of sections. */
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

/** The last line of a text, where it fits. */
const LEGEND = 'In brackets: who recorded it, through which system.';

/** Scores of warnings and of the legend, on the same scale as facts. */
const WORTH: Readonly<Record<Warning['kind'] | 'legend', number>> = {
  contradiction: 965,
  not_found: 700,
  gap: 560,
  left_out: 540,
  legend: 550,
};

/** After this many pieces in a row that don't fit, the rest is skipped. */
const PATIENCE = 40;

/** Content of a context besides its items. */
export interface Rest extends Pick<GatheredFacts, 'warnings' | 'empty' | 'outside'> {
  /** Facts with lower scores than the items; they are only counted as omitted. */
  readonly rest?: readonly Fact[];
}

/** A line that may become part of the text. */
interface Piece {
  readonly of: Kind | 'warnings' | 'legend';
  readonly score: number;
  readonly line: string;
  readonly item?: Authored;
}

/**
 * Fills the budget with lines, the highest scores first.
 * @param items facts with their authors, the highest score first
 * @param budget tokens of the text
 */
export function compose(
  items: readonly Authored[],
  { warnings, empty, outside, rest = [] }: Rest,
  budget: number,
  count: CountTokens,
): Composed {
  const headings = headingsOf(items, empty);
  const pieces = piecesOf(items, warnings);
  const bare: Piece[] = empty.map(({ kind, score }) => ({ of: kind, score, line: '' }));
  const chosen = new Set<Piece>();
  const opened = new Set<Piece['of']>();
  let [used, missed] = [0, 0];
  for (const piece of [...pieces, ...bare].sort((a, b) => b.score - a.score)) {
    const heading = opened.has(piece.of) ? undefined : headings.get(piece.of);
    const cost = tokensOf(piece.line, count) + tokensOf(heading ?? '', count);
    if (used + cost > budget) {
      missed += 1;
      if (missed > PATIENCE) break;
      continue;
    }
    missed = 0;
    used += cost;
    opened.add(piece.of);
    chosen.add(piece);
  }
  return finished(chosen, opened, { items, empty, outside, rest, headings, budget, count });
}

interface Composing extends Omit<Required<Rest>, 'warnings'> {
  readonly items: readonly Authored[];
  readonly headings: ReadonlyMap<Piece['of'], string>;
  readonly budget: number;
  readonly count: CountTokens;
}

function finished(
  chosen: ReadonlySet<Piece>,
  opened: ReadonlySet<Piece['of']>,
  composing: Composing,
): Composed {
  const { items, empty, outside, rest, headings, count, budget } = composing;
  const textOf = (of: Piece['of']): string => {
    const lines = [...chosen].filter((piece) => piece.of === of && piece.line !== '').map(({ line }) => line);
    return opened.has(of) ? [headings.get(of) ?? '', ...lines].filter((each) => each !== '').join('\n') : '';
  };
  const blocks = (['patient', 'warnings', ...KINDS.slice(1), 'legend'] as const).map(textOf);
  const text = blocks.filter((block) => block !== '').join('\n');
  const tokens = count(text);
  if (tokens > budget) {
    // The costs of lines add up to that of the text. If a tokenizer disagrees, the line with the lowest score is
    // dropped.
    const kept = [...chosen].slice(0, -1);
    return finished(new Set(kept), new Set(kept.map(({ of }) => of)), composing);
  }
  const told = new Set([...chosen].flatMap(({ item }) => item ?? []));
  const sections = KINDS.filter((kind) => opened.has(kind)).map((kind): Section => {
    const section = textOf(kind);
    const why = empty.find((each) => each.kind === kind)?.why;
    return {
      kind,
      tokens: count(section),
      items: items.filter((item) => item.fact.kind === kind && told.has(item)),
      text: section,
      note: why === undefined ? undefined : `${sentence(why)}, which does not say that there are none.`,
    };
  });
  return {
    sections,
    omitted: omittedOf([...items.flatMap((item) => (told.has(item) ? [] : [item.fact])), ...rest], outside),
    text,
    tokens,
  };
}

function omittedOf(facts: readonly Fact[], outside: ReadonlyMap<Kind, number>): Omitted[] {
  const counts = new Map<Kind, number>();
  for (const { kind } of facts) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return KINDS.flatMap((kind) => {
    const [budget = 0, window = 0] = [counts.get(kind), outside.get(kind)];
    return [
      ...(budget === 0 ? [] : [{ kind, count: budget, reason: 'budget' as const }]),
      ...(window === 0 ? [] : [{ kind, count: window, reason: 'window' as const }]),
    ];
  });
}

function piecesOf(items: readonly Authored[], warnings: readonly Warning[]): Piece[] {
  const usual = usualAuthors(items);
  return [
    ...items.map((item): Piece => {
      const { kind, text, score } = item.fact;
      const label = labelOf(item.author);
      // The patient's line is its own heading.
      if (kind === 'patient') return { of: kind, score, line: `Patient (${label}): ${text}`, item };
      const own = usual.get(kind) === label ? '' : ` (${label})`;
      return { of: kind, score, line: `- ${text}${own}`, item };
    }),
    ...warnings.map(({ kind, text }): Piece => ({ of: 'warnings', score: WORTH[kind], line: `- ${text}` })),
    { of: 'legend', score: WORTH.legend, line: LEGEND },
  ];
}

function headingsOf(items: readonly Authored[], empty: GatheredFacts['empty']): Map<Piece['of'], string> {
  const usual = usualAuthors(items);
  const headings = new Map<Piece['of'], string>([['warnings', '## Warnings']]);
  for (const [kind, label] of usual)
    if (kind !== 'patient') headings.set(kind, `## ${HEADINGS[kind]} (${label})`);
  for (const { kind, why } of empty) headings.set(kind, `## ${HEADINGS[kind]}: ${why}`);
  return headings;
}

/** Returns the most frequent author of each section; the heading names it once. */
function usualAuthors(items: readonly Authored[]): Map<Kind, string> {
  const counts = new Map<Kind, Map<string, number>>();
  for (const { fact, author } of items) {
    const of = counts.get(fact.kind) ?? new Map<string, number>();
    counts.set(fact.kind, of.set(labelOf(author), (of.get(labelOf(author)) ?? 0) + 1));
  }
  const usual = new Map<Kind, string>();
  for (const [kind, of] of counts) {
    const [first] = [...of].sort(([, a], [, b]) => b - a);
    if (first !== undefined) usual.set(kind, first[0]);
  }
  return usual;
}

function labelOf({ authorType, source }: Authorship): string {
  return source === null ? authorType : `${authorType}, ${cut(source.replace(/[\s()]+/g, ' '), 60)}`;
}

/** Returns the tokens of a line with its line break. */
function tokensOf(line: string, count: CountTokens): number {
  return line === '' ? 0 : count(`${line}\n`);
}

function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
