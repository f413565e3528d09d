/**
 * Creates notes from the entries that an AI wrote. They are kept separate from facts (docs/spec/interface.md, section 2.5),
 * and each shows the earlier version that someone else wrote (docs/decisions/0025-changed-by-ai-is-said.md).
 */
import { absences, absencesIn, allergies, medications, medicinesIn, patient, problems } from './clinical.ts';
import { documents, encounters, immunizations, plans, procedures } from './events.ts';
import { makeExcerpts } from './excerpt.ts';
import { type Fact, wholeLine } from './fact.ts';
import { findings } from './findings.ts';
import { BASE } from './guidance/scores.ts';
import type { Course, ReadBodies } from './newest.ts';
import type { Reading } from './reading.ts';
import { type Changed, type Entry, type OpenedRecord, versionReference } from './record.ts';

/** Types of which nothing is left out, because not showing an allergy, a medicine or a problem may cause harm. */
const HARMFUL: ReadonlySet<string> = new Set([
  ...['AllergyIntolerance', 'MedicationStatement', 'MedicationRequest', 'Condition'],
]);

/** The maximum number of resources of other types whose earlier version is shown, newest first. */
const MOST_OTHERS = 50;

/** Reads the last versions before an AI changed them, written by someone else, if these versions state something. */
export async function readEarlier({ changed }: OpenedRecord, bodies: ReadBodies): Promise<Entry[]> {
  if (changed.length === 0) return [];
  const others = changed.filter(({ entry }) => !HARMFUL.has(entry.type)).slice(0, MOST_OTHERS);
  const told = [...changed.filter(({ entry }) => HARMFUL.has(entry.type)), ...others];
  const texts = await bodies(told.map(({ earlier }) => earlier));
  const versions = told.flatMap(({ earlier }) => {
    const body = texts.get(versionReference(earlier));
    return body === undefined ? [] : [{ ...earlier, body }];
  });
  return makeExcerpts(versions).filter(({ leftOut }) => leftOut === undefined);
}

/**
 * Returns an AI's notes.
 * @param earlier the versions that someone else had written before an AI changed them
 * @param courses the series of findings in the notes and in the earlier versions
 */
export function aiNotes(reading: Reading, earlier: readonly Entry[], courses: readonly Course[]): Fact[] {
  const { opened, focus } = reading;
  const changed = new Map(opened.changed.map((each) => [each.entry.id, each]));
  const notes = stateFacts(reading, opened.byAi, courses, ({ id }) => changed.has(id));
  const before = stateFacts(reading, earlier, courses, () => true);
  const found = notes.map((note) => besideEarlier(note, before));
  const noted = new Set(notes.flatMap(idsIn));
  const apart = before
    .filter((fact) => !idsIn(fact).some((id) => noted.has(id)))
    .map((fact) => ({ ...fact, text: earlierText(fact, changed.get(fact.entry.id)), before: [fact.kind] }));
  return [...found, ...apart].map((fact) => ({
    ...fact,
    kind: 'ai_notes',
    isNeeded: fact.before !== undefined && fact.isNeeded === true,
    // Notes are sorted in the same way as facts.
    score: BASE.ai_notes[focus.work] + fact.score / 100,
    members: { of: fact.kind, ...fact.members },
  }));
}

const idsIn = ({ entry, also }: Fact): string[] => [entry, ...also].map(({ id }) => id);

/** Returns a note together with the earlier versions of its resources, which someone else wrote. */
function besideEarlier(note: Fact, before: readonly Fact[]): Fact {
  const ids = new Set(idsIn(note));
  const own = before.filter((fact) => idsIn(fact).some((id) => ids.has(id)));
  if (own.length === 0) return { ...note, isNeeded: false };
  const texts = own.map(({ text }) => text);
  return {
    ...note,
    text: wholeLine('; ', note.text, `before AI changed it: ${texts.join(' | ')}`),
    also: [...note.also, ...own.flatMap(({ entry, also }) => [entry, ...also])],
    isNeeded: own.some(({ isNeeded }) => isNeeded),
    before: own.map(({ kind }) => kind),
    members: { ...note.members, before: texts },
  };
}

/** Returns the line about an entry that an AI withdrew, or changed into something that isn't shown. */
function earlierText({ text }: Fact, changed: Changed | undefined): string {
  const as = changed?.entry.leftOut;
  const how = as === 'refuted' || as === 'entered in error' ? `marked it as ${as}` : 'changed it';
  return `Before AI ${how}: ${text}`;
}

/**
 * Returns what entries state, as facts.
 * @param isOver returns whether an allergy is included although it has ended
 */
function stateFacts(
  reading: Reading,
  entries: readonly Entry[],
  courses: readonly Course[],
  isOver: (entry: Entry) => boolean,
): Fact[] {
  const byType = new Map<string, Entry[]>();
  for (const entry of entries) {
    if (byType.get(entry.type)?.push(entry) === undefined) byType.set(entry.type, [entry]);
  }
  const [person] = byType.get('Patient') ?? [];
  const opened: OpenedRecord = { ...reading.opened, facts: byType, byAi: [], patient: person };
  const own: Reading = { ...reading, opened };
  const all = new Set(entries.map(versionReference));
  const series = courses.filter((course) =>
    course.entries.every((entry) => all.has(versionReference(entry))),
  );
  const medicines = medicinesIn(own);
  const none = { byDrug: new Map(), byIllness: new Map() };
  return [
    ...patient(own),
    ...absences(own, absencesIn(own, medicines)),
    ...allergies(own, isOver),
    ...medications(own, medicines),
    ...problems(own),
    ...findings(own, series, none, []),
    ...procedures(own),
    ...encounters(own),
    ...plans(own),
    ...immunizations(own),
    ...documents(own),
  ];
}
