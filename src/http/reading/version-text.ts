/**
 * Describes in one sentence what a version of any resource states, in the words of the clinical reading's lists and the
 * timeline.
 */
import type { ClinicalEntry } from '#queries/rest/clinical-entries.ts';
import { findCodeWord } from '#src/clinical/reading/names/code-words.ts';
import { readPerson } from '#src/clinical/reading/person.ts';
import { READ_TYPES, readRecord } from '#src/clinical/reading/reading.ts';
import { hasModifier, withdrawnAs } from '#src/clinical/reading/status.ts';
import type { Around } from '#src/clinical/reading/told.ts';
import { type Displays, withDisplays } from '#src/clinical/summary/displays.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { timelineKind, timelineWords } from '#src/v1/timeline.ts';
import { capital } from '../pages/capital.ts';
import { resultName } from '../pages/result-names.ts';
import type { Texts } from '../pages/texts.ts';
import { dateText, deathText } from './day-text.ts';
import { judgementText } from './judgement.ts';
import { typeText } from './kinds.ts';
import type { KnownLine, LinePlace } from './known-lines.ts';
import { LIST_NAMES, splitLines } from './known-lists.ts';
import { whenDated } from './known-words.ts';
import type { Observation } from './measures.ts';
import { titleOfResource } from './resource-title.ts';
import { readResult } from './stored-results.ts';
import { summaryLine, titleText } from './summary-words.ts';
import { valueText, whenMeasured } from './values.ts';

/** The inputs for a sentence. */
export interface VersionPlace {
  readonly say: Texts;
  readonly around: Around;
  /** The Patient as of that time. */
  readonly patient: JsonObject;
  /** Names for codes without a text. */
  readonly names: Displays;
}

/** A sentence about a version, and whether the version states nothing, or no longer states anything. */
export interface VersionText {
  readonly text: string;
  readonly isWithdrawn: boolean;
}

/** Returns a line as a single text: `Metformin: Active · 1 tablet daily · taken since 2019`. */
export function lineText({ title, badges, details }: KnownLine): string {
  const said = [...badges.map(([, words]) => words), ...details];
  return said.length === 0 ? title : `${title}: ${said.join(' · ')}`;
}

/**
 * Returns a result as a single text: `HbA1c: 7.1 % · Above the range · 3 May 2026`.
 * @param title the result's name
 */
export function resultLine(say: Texts, title: string, result: Observation): string {
  const judged = judgementText(say, result);
  const said = [valueText(say, result), ...(judged === undefined ? [] : [judged]), whenMeasured(say, result)];
  return `${title}: ${said.join(' · ')}`;
}

/**
 * Returns the sentence.
 * @param entry the entry; its value has the numbers as they are stored
 */
export function sayVersion(place: VersionPlace, entry: ClinicalEntry): VersionText {
  const { say } = place;
  const { value } = entry;
  const withdrawn = withdrawnAs(value);
  if (withdrawn !== undefined) {
    const code = withdrawn === 'refuted' ? 'refuted' : 'entered-in-error';
    const state = capital(say, findCodeWord(say.lang, 'verificationStatus', code) ?? code);
    return { text: `${nameEntry(place, entry)}: ${state}`, isWithdrawn: true };
  }
  if (hasModifier(value))
    return {
      text: `${nameEntry(place, entry)}: ${say('known.modified', { entries: 1 })}`,
      isWithdrawn: false,
    };
  return { text: stateEntry(place, entry), isWithdrawn: false };
}

function stateEntry(place: VersionPlace, entry: ClinicalEntry): string {
  const { say, names } = place;
  const { value, type } = entry;
  if (type === 'Patient') return sayPerson(say, value);
  if (type === 'Observation') {
    const result = readResult({ ...entry, author: 'import' }, names);
    return resultLine(say, resultName(say, result), result);
  }
  return (READ_TYPES.includes(type) ? readAlone(place, entry) : undefined) ?? sayEntry(place, entry);
}

/**
 * Returns the sentence for an entry of a list as if it were the only entry in the record; undefined if the entry isn't in any
 * list, for example because it is a draft.
 */
function readAlone({ say, around, patient }: VersionPlace, entry: ClinicalEntry): string | undefined {
  const { person, facts } = readRecord(
    patient,
    [{ ...entry, partOfAi: 'no' as const, before: undefined }],
    around,
  );
  const place: LinePlace = { say, known: { name: around.name, person, before: () => undefined } };
  const [line] = LIST_NAMES.flatMap((list) => {
    const { absent, now, planned, past } = splitLines(place, facts, list);
    return [...absent, ...now, ...planned, ...past];
  });
  return line === undefined ? undefined : lineText(line);
}

function sayPerson(say: Texts, value: ClinicalEntry['value']): string {
  const { name, born, gender, died } = readPerson(value);
  const sex = gender === undefined ? undefined : findCodeWord(say.lang, 'gender', gender);
  const said = [
    name,
    born === undefined ? undefined : say('record.born', { day: dateText(say, born) }),
    sex,
    died === undefined ? undefined : deathText(say, died),
  ];
  return said.filter((part) => part !== undefined).join(' · ') || say('record.unnamed');
}

/** Returns an entry's title, finding and date, as in the timeline. */
function sayEntry(place: VersionPlace, entry: ClinicalEntry): string {
  const { say, names } = place;
  const named = withDisplays({ value: entry.value }, names).value;
  const kind = timelineKind(entry.type);
  const summary = kind === undefined ? null : summaryLine(say, kind, timelineWords(kind, named).summary);
  const when = whenDated(say, entry);
  const said = [summary, when].filter((part) => part !== null);
  const name = nameEntry(place, entry);
  return said.length === 0 ? name : `${name}: ${said.join(' · ')}`;
}

/** Returns an entry's name. */
export function nameEntry(
  { say, names, around }: Pick<VersionPlace, 'say' | 'names'> & { readonly around: Pick<Around, 'name'> },
  { type, value }: Pick<ClinicalEntry, 'type' | 'value'>,
): string {
  if (type === 'Patient') return readPerson(value).name ?? say('record.unnamed');
  const named = withDisplays({ value }, names).value;
  if (type === 'Observation')
    return resultName(say, readResult({ id: '', version: 1, value, recorded: 0, author: 'import' }, names));
  const kind = timelineKind(type);
  const referred = around.name(value.code ?? value.vaccineCode ?? value.medicationCodeableConcept);
  if (referred !== undefined) return referred;
  const title = titleOfResource(named);
  if (kind === undefined) return title ?? typeText(say, type);
  return titleText(say, kind, timelineWords(kind, named).title);
}
