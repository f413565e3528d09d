/** Determines a request's focus from its task and question: the kind of work, illnesses, findings and words. */

import { type ContextRequest, type Need, parseNeed } from '../request.ts';
import { ILLNESSES, type Illness } from './illnesses.ts';
import { MEASURE_WORDS, type Measure } from './measures.ts';

/** A kind of work; each kind ranks facts differently. */
export type Work = 'review' | 'follow_up' | 'acute' | 'letter' | 'general';

/** A request's focus. */
export interface Focus {
  readonly work: Work;
  readonly needs: readonly Need[];
  /** Illnesses that the task or the question mentions. */
  readonly illnesses: readonly Illness[];
  /** Findings that the task or the question mentions, and findings that monitor these illnesses. */
  readonly measures: ReadonlySet<Measure>;
  /** The words of the task and the question, in lower case, without words that don't help to rank facts. */
  readonly words: readonly string[];
}

/** Patterns for tasks. The first match is used, so specific patterns come first. */
const WORK: readonly (readonly [Work, RegExp])[] = [
  [
    'review',
    /medic(ation|ine)s?[ _-](review|reconcil)|interaction|polypharm|prescri|deprescri|reconcil|\bdrugs?\b/i,
  ],
  ['letter', /letter|referral|refer\b|discharge|handover|hand[ _-]over|transfer|summar/i],
  ['acute', /acute|triage|emergenc|urgent|admission|\bed\b|\ber\b/i],
  ['follow_up', /follow|chronic|monitor|control|check-?up|prevent|management|routine|annual/i],
  ['review', /medic(ation|ine)|pharma|dos(e|ing|age)/i],
  ['acute', /visit|complain|symptom|\bpain\b/i],
];

/** Words that don't help to rank facts. */
const IDLE = new Set(
  'about above after again also been before could current does from have history into last latest need needs patient please record recent recently review should show since some tell than that their them then there these they this those visit what when where which while with would year years task follow medication medications letter referral acute general'.split(
    ' ',
  ),
);

/** Reads a request's focus. Its needs have already been validated. */
export function readFocus({ task, question, needs }: ContextRequest): Focus {
  const asked = [task, question].filter((text) => text !== undefined).join(' ');
  const illnesses = ILLNESSES.filter(({ words }) => words.test(asked));
  const measures = new Set<Measure>();
  for (const [measure, words] of Object.entries(MEASURE_WORDS)) {
    if (words.test(asked)) measures.add(measure as Measure);
  }
  for (const { watch } of illnesses) for (const measure of watch) measures.add(measure);
  const words = asked
    .toLowerCase()
    .split(/[^\p{L}\p{N}-]+/u)
    .filter((word) => word.length > 3 && !IDLE.has(word));
  return {
    work: readWork(task) ?? readWork(question) ?? (illnesses.length > 0 ? 'follow_up' : 'general'),
    needs: needs.flatMap((text) => parseNeed(text) ?? []),
    illnesses,
    measures,
    words: [...new Set(words)].slice(0, 50),
  };
}

function readWork(text: string | undefined): Work | undefined {
  return text === undefined ? undefined : WORK.find(([, words]) => words.test(text))?.[0];
}
