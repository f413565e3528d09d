/** Gathers all facts in a record that a context may contain, sorted by score. Pure, apart from reading values. */

import { isDenial } from '#src/clinical/reading/absence.ts';
import { isOver } from '#src/clinical/reading/status.ts';
import { coverageOfTypes } from '#src/shared/access/coverage.ts';
import { aiNotes } from './ai-notes.ts';
import { absences, absencesIn, allergies, medications, medicinesIn, patient, problems } from './clinical.ts';
import { countPastPlans, documents, encounters, immunizations, plans, procedures } from './events.ts';
import type { Fact } from './fact.ts';
import { findings } from './findings.ts';
import { readFocus } from './guidance/focus.ts';
import { answersNeed, BASE } from './guidance/scores.ts';
import { findMonitoring, gapWarnings } from './monitoring.ts';
import { type ReadBodies, readNewest, valuesShown } from './newest.ts';
import { findPatterns } from './patterns.ts';
import { ageDays, listStated, type Reading } from './reading.ts';
import { CONTEXT_TYPES, type Entry, MODIFIED, type OpenedRecord, REFUTED_BY_AI } from './record.ts';
import { type ReadReplacedTexts, withReplacedValues } from './replaced.ts';
import type { ContextRequest, Kind } from './request.ts';
import { groupSeries } from './series.ts';
import {
  absenceContradictions,
  allergyContradictions,
  deathContradictions,
  drugContradictions,
  futureDates,
  leftOutWarnings,
  problemContradictions,
  type Warning,
} from './warnings.ts';

/** A record's facts and warnings. */
export interface GatheredFacts {
  /** The highest score first. */
  readonly facts: readonly Fact[];
  readonly warnings: readonly Warning[];
  /** Sections that readers expect but that have no facts, each with the reason. */
  readonly empty: readonly Empty[];
  /** By section: the number of resources outside the requested window. */
  readonly outside: ReadonlyMap<Kind, number>;
  /** By section: the number of entries that aren't in any fact because they have ended. */
  readonly past: ReadonlyMap<Kind, number>;
}

/** A section without facts. This doesn't mean that the patient has, for example, no allergies. */
export interface Empty {
  readonly kind: 'allergies' | 'medications' | 'problems';
  readonly why: string;
  readonly score: number;
}

/** Data that is looked up in addition to the record. */
export interface Lookups extends Pick<Reading, 'directory' | 'displays' | 'today' | 'covered'> {
  /** The versions that someone else had written before an AI changed them. */
  readonly earlier?: readonly Entry[];
}

/**
 * Gathers facts and warnings.
 * @param ask a request whose needs are valid
 * @param bodies reads the values that are shown
 * @param replaced reads the earlier versions of the entries that are shown
 */
export async function gatherFacts(
  record: OpenedRecord,
  ask: ContextRequest,
  beside: Lookups,
  bodies: ReadBodies,
  replaced: ReadReplacedTexts,
): Promise<GatheredFacts> {
  const focus = readFocus(ask);
  const { opened, outside } = within(record, ask.window_days, beside.today);
  const reading: Reading = { ...beside, opened, focus };
  const { earlier = [] } = beside;
  const medicines = medicinesIn(reading);
  const observations = opened.facts.get('Observation') ?? [];
  const series = groupSeries(observations);
  const patterns = await findPatterns(observations, series, beside.today);
  const [ofAi, before] = [opened.byAi, earlier].map((entries) =>
    groupSeries(entries.filter(({ type }) => type === 'Observation')),
  );
  const courses = await readNewest(
    [...series, ...(ofAi ?? []), ...(before ?? [])],
    valuesShown(focus),
    bodies,
  );
  const denied = absencesIn(reading, medicines);
  const watch = findMonitoring(reading, medicines);
  const facts = [
    ...patient(reading),
    ...absences(reading, denied),
    ...allergies(reading),
    ...medications(reading, medicines),
    ...problems(reading),
    ...findings(
      reading,
      await withReplacedValues(courses.slice(0, series.length), replaced),
      watch,
      series.map((one) => patterns.get(one) ?? []),
    ),
    ...procedures(reading),
    ...encounters(reading),
    ...plans(reading),
    ...immunizations(reading),
    ...documents(reading),
    ...aiNotes(reading, earlier, courses.slice(series.length)),
  ];
  const isDead = facts.some(({ kind, members }) => kind === 'patient' && members.deceased === true);
  const wholeSeries = opened === record ? series : groupSeries(record.facts.get('Observation') ?? []);
  return {
    facts: facts.sort(mostNeededFirst),
    warnings: [
      ...allergyContradictions(reading, medicines),
      ...absenceContradictions(denied),
      ...drugContradictions(reading, medicines),
      ...problemContradictions(reading),
      ...futureDates(reading),
      ...deathContradictions(reading, medicines),
      ...(isDead ? [] : gapWarnings(reading, watch, wholeSeries)),
      ...notFound(reading, facts),
      ...leftOutWarnings(reading),
    ],
    empty: listEmpty(reading, facts),
    outside,
    past: countPast(reading),
  };
}

function mostNeededFirst(a: Fact, b: Fact): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.entry.dated.at !== b.entry.dated.at) return b.entry.dated.at - a.entry.dated.at;
  return a.entry.id < b.entry.id ? -1 : 1;
}

/** Types that describe single events, and their sections. The requested window applies to these types. */
const HAPPENS: Readonly<Record<string, Kind>> = {
  Procedure: 'procedures',
  Encounter: 'encounters',
  Immunization: 'immunizations',
  DiagnosticReport: 'documents',
  DocumentReference: 'documents',
};

function within(
  opened: OpenedRecord,
  days: number | undefined,
  today: number,
): { readonly opened: OpenedRecord; readonly outside: ReadonlyMap<Kind, number> } {
  const outside = new Map<Kind, number>();
  if (days === undefined) return { opened, outside };
  const from = today - days * 86_400_000;
  const facts = new Map<string, readonly Entry[]>();
  for (const [type, entries] of opened.facts) {
    const kept = entries.filter((entry) => {
      const kind =
        type === 'Observation'
          ? 'observations'
          : type === 'Condition' && isOver(entry.value.clinicalStatus)
            ? 'problems'
            : HAPPENS[type];
      if (kind === undefined || entry.dated.date === null || entry.dated.at >= from) return true;
      outside.set(kind, (outside.get(kind) ?? 0) + 1);
      return false;
    });
    facts.set(type, kept);
  }
  return { opened: { ...opened, facts }, outside };
}

/** Counts the allergies and plans that have ended. */
function countPast(reading: Reading): ReadonlyMap<Kind, number> {
  const { facts } = reading.opened;
  const allergies = (facts.get('AllergyIntolerance') ?? []).filter(
    (entry) => isOver(entry.value.clinicalStatus) && !isDenial(entry, entry.value.code),
  );
  return new Map([
    ['allergies', allergies.length],
    ['plans', countPastPlans(reading)],
  ]);
}

/** Returns a warning for each need that no fact meets. */
function notFound(reading: Reading, facts: readonly Fact[]): Warning[] {
  const isWhole = coverageOfTypes(CONTEXT_TYPES, reading.covered) === 'all';
  return reading.focus.needs
    .filter(
      (need) =>
        !facts.some(
          (fact) =>
            fact.kind !== 'ai_notes' && answersNeed(need, { ...fact, ageDays: ageDays(reading, fact.entry) }),
        ),
    )
    .map(({ text }) => ({
      kind: 'not_found',
      text: isWhole
        ? `nothing is recorded for ${text}`
        : `the part of the record that the grant covers has nothing for ${text}`,
      fhir: [],
    }));
}

function listEmpty(reading: Reading, facts: readonly Fact[]): Empty[] {
  const { work } = reading.focus;
  const types = {
    allergies: ['AllergyIntolerance'],
    medications: ['MedicationStatement', 'MedicationRequest'],
    problems: ['Condition'],
  } as const;
  return (['allergies', 'medications', 'problems'] as const).flatMap((kind) => {
    if (facts.some((fact) => fact.kind === kind)) return [];
    const isByAi = reading.opened.byAi.some(({ type }) => (types[kind] as readonly string[]).includes(type));
    const isThere = listStated(reading, ...types[kind]).length > 0;
    const without = ([MODIFIED, REFUTED_BY_AI] as const).find((reason) =>
      types[kind].some((type) => reading.opened.unsure.get(reason)?.has(type) === true),
    );
    const isChanged = facts.some((fact) => fact.kind === 'ai_notes' && fact.before?.includes(kind) === true);
    const recorded = isChanged
      ? 'none but those that an AI changed'
      : isByAi
        ? 'none recorded but by an AI'
        : 'none recorded';
    const current = isThere ? 'none current' : recorded;
    const why =
      without === undefined ? current : `none but ${without === MODIFIED ? '' : 'those '}${without}`;
    const said = {
      all: why,
      some: `${why}; the grant covers a part of them`,
      none: 'not covered by the grant',
    }[coverageOfTypes(types[kind], reading.covered)];
    return [{ kind, why: said, score: BASE[kind === 'allergies' ? 'noAllergies' : kind][work] - 10 }];
  });
}
