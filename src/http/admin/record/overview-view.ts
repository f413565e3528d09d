/** Formats the overview of a record as JSON: the lines of the clinical reading, each with its entry and origin. */
import { z } from 'zod';
import type { ClinicalEntry } from '#queries/rest/clinical-entries.ts';
import { MEANINGS } from '#src/clinical/reading/dates.ts';
import type { ListName } from '#src/clinical/reading/reading.ts';
import { instant } from '../../api/schemas.ts';
import { capital } from '../../pages/capital.ts';
import type { Texts } from '../../pages/texts.ts';
import { findRange, judge, judgementText } from '../../reading/judgement.ts';
import type { Known } from '../../reading/known.ts';
import type { KnownLine, LinePlace } from '../../reading/known-lines.ts';
import {
  isWithdrawn,
  LISTS,
  leftOutName,
  pastText,
  splitLines,
  withdrawnLines,
} from '../../reading/known-lists.ts';
import type { Measure, Observation } from '../../reading/measures.ts';
import { type Origin, originShape } from '../../reading/origins.ts';
import { type ReplacedResult, valueChangeText } from '../../reading/value-changes.ts';
import { besideText, rangeText, valueText, whenMeasured } from '../../reading/values.ts';
import { lineText, resultLine } from '../../reading/version-text.ts';
import { eventSchema } from './timeline.ts';

const resource = z.string().describe('`<Type>/<id>`.');

/** Members that every line has. */
const lineShape = {
  text: z.string().describe('The whole line as one sentence, in the language that was asked for.'),
  resource,
  version: z.int(),
  recorded: instant.describe('When this version was stored.'),
  ...originShape,
};

const period = z.object({
  means: z
    .enum(['taken', 'taken_on', 'planned', 'prescribed', 'ordered'])
    .describe('`taken_on` and prescription days have no length.'),
  from: z.string().nullable().describe('A FHIR date, as exact as it is.'),
  until: z.string().nullable().describe('Null if the end isn’t known.'),
  current: z.boolean().describe('Its source says that the medicine is taken.'),
  resource,
  version: z.int(),
});

const statement = z.object({
  ...lineShape,
  title: z.string(),
  badges: z
    .array(z.object({ tone: z.enum(['good', 'warn', 'plain']), text: z.string() }))
    .describe('State, certainty and danger.'),
  details: z.array(z.string()),
  status: z.string().nullable().describe('The state as a code; null if it isn’t recorded.'),
  date: z.string().nullable().describe('A FHIR date, as exact as it is.'),
  date_means: z.enum(MEANINGS).nullable(),
  periods: z.array(period).describe('For medicines: when they were taken and prescribed.'),
  others: z
    .array(z.object({ text: z.string(), resource, version: z.int() }))
    .describe('Other entries about the same thing, each with its own statement.'),
});

const list = z.object({
  title: z.string(),
  absent: z
    .array(statement)
    .describe('Statements that there is none, as `no known allergies`: they count as no entry.'),
  now: z.array(statement).describe('What is current, the most dangerous first.'),
  planned: z.array(statement).describe('What is planned or proposed, and isn’t so yet.'),
  past: z.array(statement),
  past_text: z.string().describe('How many are past, in words; empty for none.'),
  none: z.string().nullable().describe('The sentence if nothing is current; null otherwise.'),
  unverified: z
    .array(statement)
    .describe('Entries that an AI wrote or changed and nobody confirmed; they are never among the others.'),
  left_out: z
    .array(
      z.object({
        title: z.string(),
        why: z.string(),
        text: z.string().describe('The whole as one sentence: since when, and what it said before.'),
        since: instant
          .nullable()
          .describe(
            'When the version was stored that withdrew it; null if it was never stated, or isn’t known.',
          ),
        resource,
        version: z.int(),
      }),
    )
    .describe(
      'Entries that aren’t shown, and why: `entered in error`, `refuted`, `withdrawn by an AI`, `modified`.',
    ),
});

const result = z.object({
  ...lineShape,
  title: z.string(),
  value: z.string(),
  when: z.string(),
  at: z.string().nullable().describe('When it was measured, as the record says.'),
  range: z.string().nullable().describe('The reference range, without its unit.'),
  judgement: z.string().nullable(),
  grade: z.enum(['critical', 'out', 'good']).nullable(),
  status: z.string().nullable(),
  code: z.string().nullable().describe('`system|code`.'),
  values: z.int().describe('Values of this kind that were read; at most ten.'),
  changed: z
    .string()
    .nullable()
    .describe('If a later version of the entry changed the value: when, and from what, in words.'),
  later: z.string().nullable().describe('A later measurement without a value, in words.'),
  beside: z
    .string()
    .nullable()
    .describe('Other values with the same time, in words; the record doesn’t say which of them is right.'),
});

const events = z.object({
  title: z.string(),
  kind: z.enum(['procedure', 'encounter']).describe('The kind in the timeline, which has all entries.'),
  newest: z.array(eventSchema).describe('The newest first, at most three.'),
  unverified: z.array(eventSchema).describe('Which of the three an AI wrote and nobody confirmed.'),
  total: z.int(),
  none: z.string().nullable().describe('The sentence if there are none; null otherwise.'),
});

/** The overview in a response. */
export const overviewSchema = z
  .object({
    patient: z.object({
      id: z.string(),
      resource,
      version: z.int(),
      name: z.string().nullable(),
      other_names: z.array(z.string()),
      birth_date: z.string().nullable(),
      age: z.string().nullable().describe('The age at that time, or at death, in words.'),
      gender: z.string().nullable(),
      gender_text: z.string().nullable(),
      identifiers: z.array(
        z.object({ system: z.string().nullable(), value: z.string(), kind: z.string().nullable() }),
      ),
      died: z.object({ date: z.string().nullable(), text: z.string() }).nullable(),
    }),
    environment: z.enum(['sandbox', 'production']),
    as_of: instant.describe('The point in time that is shown.'),
    is_now: z.boolean(),
    language: z.string(),
    position: z
      .object({
        versions: z.int().describe('Number of versions in the record up to that time.'),
        recorded: instant.describe('When the last one was stored.'),
        event_id: z.string(),
      })
      .nullable(),
    counts: z.array(z.object({ type: z.string(), text: z.string(), count: z.int() })),
    allergies: list,
    medicines: list,
    problems: list,
    vaccinations: list,
    care_plans: list,
    goals: list,
    procedures: events,
    visits: events,
    results: z.object({
      abnormal: z.array(result).describe('Abnormal or outside their range, the gravest first.'),
      abnormal_none: z.string().nullable().describe('The sentence if there are none.'),
      latest: z.array(result).describe('The newest of each kind, the newest first.'),
      unverified: z.array(result).describe('Results that an AI wrote and nobody confirmed.'),
      unjudged: z
        .int()
        .describe(
          'Number of kinds whose newest value can’t be judged, because it has no interpretation from the laboratory and no single numeric range.',
        ),
      left_out: z.array(resource).describe('Results with a modifier extension.'),
      not_done: z.int().describe('Number of results that were cancelled or aren’t available yet.'),
    }),
    too_large: z.array(resource).describe('Entries that are too large to be read here.'),
  })
  .meta({ id: 'RecordOverview' });

/** The parts of the overview. */
export type OverviewView = z.input<typeof overviewSchema>;
type ListView = z.input<typeof list>;
type StatementView = z.input<typeof statement>;
type ResultView = z.input<typeof result>;

/** The inputs from which lines are formatted. */
export interface LinesPlace extends LinePlace {
  readonly known: Known;
  readonly findOrigin: (id: string) => Origin;
}

const resourceIn = ({ type, id }: Pick<ClinicalEntry, 'type' | 'id'>): string => `${type}/${id}`;

/** Formats a list of the clinical reading. */
export function viewList(place: LinesPlace, name: ListName): ListView {
  const { say, known } = place;
  const [, title, none] = LISTS.find(([each]) => each === name) ?? LISTS[0];
  const { absent, now, planned, past } = splitLines(place, known.facts, name);
  const noted = splitLines(place, known.notes, name);
  const view = (line: KnownLine): StatementView[] => viewLine(place, line);
  const past_text = past.length === 0 ? '' : pastText(say, name, past.length);
  return {
    title: say(title),
    absent: absent.flatMap(view),
    now: now.flatMap(view),
    planned: planned.flatMap(view),
    past: past.flatMap(view),
    past_text,
    none: sayNone(say, absent.length > 0 ? null : say(none), now.length, past_text, planned.length),
    unverified: [...noted.absent, ...noted.now, ...noted.planned, ...noted.past].flatMap(view),
    left_out: [
      ...withdrawnLines(place, known, name).map(({ entry, title, as, text, since }) => ({
        ...{ title, text },
        why: as,
        since: since ?? null,
        resource: resourceIn(entry),
        version: entry.version,
      })),
      ...known.leftOut
        .filter(({ list, as }) => list === name && !isWithdrawn(as))
        .map((each) => ({
          title: leftOutName(say, known, each),
          text: leftOutName(say, known, each),
          why: each.as,
          since: null,
          resource: resourceIn(each.told),
          version: each.told.version,
        })),
    ],
  };
}

/**
 * Returns the sentence for a list without current entries. It says that the list is empty only if there are no past or planned
 * entries either.
 */
export function sayNone(
  say: Texts,
  none: string | null,
  now: number,
  past: string,
  planned = 0,
): string | null {
  if (now > 0) return null;
  if (past === '' && planned > 0) return say('known.nonenow');
  return past === '' ? none : say('known.nonenowpast', { past });
}

/** Formats a line; returns an empty array if the line has no entry. */
export function viewLine(
  { say, findOrigin }: Pick<LinesPlace, 'say' | 'findOrigin'>,
  line: KnownLine,
): StatementView[] {
  const { title, badges, details, sources, status, dated, periods } = line;
  const [lead, ...others] = sources;
  if (lead === undefined) return [];
  return [
    {
      text: lineText(line),
      title,
      badges: badges.map(([tone, words]) => ({ tone, text: capital(say, words) })),
      details: [...details],
      status: status ?? null,
      date: dated.date,
      date_means: dated.date === null ? null : dated.means,
      periods: periods.map(({ told, means, from, until, isCurrent }) => ({
        means,
        from: from ?? null,
        until: until ?? null,
        current: isCurrent,
        resource: resourceIn(told),
        version: told.version,
      })),
      resource: resourceIn(lead.entry),
      version: lead.entry.version,
      recorded: new Date(lead.entry.recorded).toISOString(),
      ...findOrigin(lead.entry.id),
      others: others.map(({ entry, says }) => ({
        text: [title, ...says].join(' · '),
        resource: resourceIn(entry),
        version: entry.version,
      })),
    },
  ];
}

/** A result with its version number. */
export interface VersionedResult {
  readonly result: Observation;
  readonly version: number;
}

/** Formats the newest result of a kind; returns an empty array if the kind has no facts. */
export function viewMeasure(
  say: Texts,
  { name, system, code, facts, latest, failed, beside }: Measure,
  place: ResultsPlace,
): ResultView[] {
  if (latest === undefined) return [];
  const others = besideText(say, beside);
  const shown = viewResult(say, name, latest, place);
  const later = failed === undefined ? null : `${whenMeasured(say, failed)}: ${valueText(say, failed)}`;
  return [
    {
      ...shown,
      text: others === undefined ? shown.text : `${shown.text} · ${others}`,
      code: code === null ? null : system === null ? code : `${system}|${code}`,
      values: facts.length,
      later,
      beside: others ?? null,
    },
  ];
}

/** Finds the origin, the version and the replaced versions of a result. */
export interface ResultsPlace {
  readonly findOrigin: (id: string) => Origin;
  readonly findVersion: (id: string) => number;
  /** Returns what earlier versions of a result said, newest first. */
  readonly findReplaced: (id: string) => readonly ReplacedResult[];
}

/** Returns a result. */
export function viewResult(
  say: Texts,
  title: string,
  result: Observation,
  { findOrigin, findVersion, findReplaced }: ResultsPlace,
): ResultView {
  const [value, when] = [valueText(say, result), whenMeasured(say, result)];
  const judgement = judgementText(say, result) ?? null;
  const range = findRange(result);
  const changed = valueChangeText(say, result, findReplaced(result.id)) ?? null;
  const line = resultLine(say, title, result);
  return {
    text: changed === null ? line : `${line} · ${changed}`,
    title,
    value,
    when,
    at: result.effective_at,
    range: range === undefined ? null : rangeText(say, range),
    judgement,
    grade: judge(result)?.grade ?? null,
    status: result.status,
    code: null,
    values: 1,
    changed,
    later: null,
    beside: null,
    resource: result.fhir,
    version: findVersion(result.id),
    recorded: result.created_at,
    ...findOrigin(result.id),
  };
}
