/** Describes what was changed by later versions and newer entries, and what was refuted (docs/clinical-reading.md). */

import type { Allergy } from '#src/clinical/reading/allergies.ts';
import type { DoseChange } from '#src/clinical/reading/doses/dose-change.ts';
import { isRecent } from '#src/clinical/reading/doses/dose-dates.ts';
import { separator } from '#src/clinical/reading/doses/dose-words.ts';
import { translateDoses } from '#src/clinical/reading/doses/english-doses.ts';
import { type RefutedWords, readChangeText } from '#src/clinical/reading/english.ts';
import type { MedicineSource } from '#src/clinical/reading/medicines.ts';
import { type CodeSet, findCodeByWord, findCodeWord } from '#src/clinical/reading/names/code-words.ts';
import { formatDecimal } from '#src/clinical/reading/numbers/decimal.ts';
import { doseChangePhrases, type Phrase } from '#src/clinical/reading/phrases.ts';
import { findWithdrawal, type Revision, type Statement } from '#src/clinical/reading/revisions.ts';

import type { Json } from '#src/shared/json/json-value.ts';
import type { TextKey } from '../../pages/languages/language.ts';
import type { Change, Earlier, PageAround, PagePhrase, RefutedRow } from './rows.ts';

/** The look-up functions, plus the function that converts a phrase of the clinical reading to a phrase of the page. */
export interface ChangeAround extends PageAround {
  readonly makePhrase: (around: PageAround, phrase: Phrase) => PagePhrase;
}

/** The parts of a row's clinical reading that describe its changes. */
export interface Changed {
  readonly revisions: readonly (Omit<Revision, 'before'> & { readonly before: Before | undefined })[];
  readonly doseChange?: DoseChange<MedicineSource> | undefined;
  readonly hasNewDose?: boolean;
  readonly name?: string | undefined;
}

/** `isOwn`: the text consists of the page's own words. */
type Before = Statement | { readonly text: string; readonly isOwn: true };

/** Words for elements, by their FHIR names. */
const LABELS: Readonly<Record<string, TextKey>> = {
  medicationCodeableConcept: 'element.medication',
  dosage: 'element.dosage',
  status: 'element.status',
  clinicalStatus: 'element.status',
  verificationStatus: 'element.certainty',
  criticality: 'element.risk',
  reaction: 'element.reaction',
  code: 'element.description',
  severity: 'element.severity',
  bodySite: 'element.site',
  vaccineCode: 'element.vaccine',
  value: 'element.value',
};

/**
 * Returns a row's changes as phrases, and the badges for recent changes. They come from a summary's narrative if it describes
 * any, and otherwise from the versions and sources that the link contains.
 * @param keys the keys of the row's entries, `Type/id`
 */
export function changesIn(
  { revisions, doseChange, hasNewDose = false, name }: Changed,
  keys: readonly string[],
  kind: string,
  around: ChangeAround,
): { readonly changes: readonly Change[]; readonly marks: readonly PagePhrase[] } {
  const told = [...new Set(keys.flatMap((key) => around.changes.get(key) ?? []))];
  const read = told.flatMap((text) => readToldChange(text, kind, around) ?? []);
  const changes: readonly Change[] =
    told.length > 0
      ? read
      : [
          ...revisions.map((revision) => revisionPhrase(revision, around)),
          ...(doseChange === undefined ? [] : [doseChangePhrase(doseChange, name, around)]),
        ];
  const marks: PagePhrase[] = changes.flatMap(({ mark }) => mark ?? []);
  if (hasNewDose && !changes.some(({ isDose }) => isDose)) marks.push({ key: 'known.dosebeside' });
  const seen = new Set<string>();
  return {
    changes,
    marks: marks.filter((mark) => {
      const text = JSON.stringify(mark);
      return !seen.has(text) && seen.add(text);
    }),
  };
}

/** Returns the word for an element, which fills the placeholder `what`. */
function wordsFor(element: string): { readonly what: TextKey } {
  return { what: (Object.hasOwn(LABELS, element) ? LABELS[element] : undefined) ?? 'element.description' };
}

function markFor(words: { readonly what: TextKey }, isNew: boolean): Pick<Change, 'mark'> {
  return isNew ? { mark: { key: 'known.changedlately', words } } : {};
}

function revisionPhrase(
  { element, at, before, times, isRecent: isNew }: Changed['revisions'][number],
  around: ChangeAround,
): Change {
  const words = wordsFor(element);
  return {
    key: times === 1 ? 'known.revised' : 'known.revisedtimes',
    days: { day: at.slice(0, 10) },
    times,
    words,
    earlier: [statementText(before, around)],
    ...markFor(words, isNew),
  };
}

/** Returns what an element stated. */
function statementText(before: Before | undefined, around: PageAround): Earlier {
  const { lang, clean, doses, reactions } = around;
  if (before === undefined) return { key: 'known.notsaid' };
  if ('isForbidden' in before) return { key: 'known.forbidden' };
  if ('text' in before) return { text: 'isOwn' in before ? before.text : clean(before.text) };
  if ('code' in before) return { text: findCodeWord(lang, before.set, before.code) ?? clean(before.code) };
  if ('reactions' in before) return { text: reactions({ reaction: before.reactions }) };
  return { text: doses(before.doses) };
}

function doseChangePhrase(
  doseChange: DoseChange<MedicineSource>,
  name: string | undefined,
  around: ChangeAround,
): Change {
  const { makePhrase } = around;
  const { since, before } = doseChangePhrases(doseChange);
  const earlier = before.map(({ source, when }): Earlier => {
    const own = around.clean(source.name);
    const isNamed = own === '' || own.toLowerCase() === around.clean(name).toLowerCase();
    const dose = around.doses(source.dosage);
    return {
      text: isNamed ? dose : `${own}: ${dose}`,
      ...(when === undefined ? {} : { when: makePhrase(around, when) }),
    };
  });
  return doseWords(
    doseChange.isCertain ? makePhrase(around, since) : undefined,
    earlier,
    doseChange.isRecent,
  );
}

/**
 * Returns the phrase for a change of dosage.
 * @param when when the dosage changed; undefined if that isn't certain
 */
function doseWords(when: PagePhrase | undefined, earlier: readonly Earlier[], isNew: boolean): Change {
  const words = { what: 'element.dosage' } as const;
  return {
    key: when === undefined ? 'known.doseearlier' : 'known.dosechanged',
    days: {},
    words,
    ...(when === undefined ? {} : { when }),
    earlier,
    isDose: true,
    ...(!isNew ? {} : { mark: when === undefined ? { key: 'known.dosemaybe' } : markFor(words, true).mark }),
  };
}

/**
 * Returns what a narrative says about a change. Where the narrative uses the service's own words, they are translated to the
 * page's language.
 */
function readToldChange(text: string, kind: string, around: ChangeAround): Change | undefined {
  const said = readChangeText(text);
  if (said === undefined) return undefined;
  const { clean, today, makePhrase } = around;
  if ('doses' in said) {
    const since = said.isCertain && said.since !== undefined ? makePhrase(around, said.since) : undefined;
    const [day] = Object.values(said.since?.days ?? {});
    const earlier = said.doses.map(
      ({ dose, when }): Earlier => ({
        text: doseInLanguage(clean(dose), around),
        ...(when === undefined ? {} : { when: makePhrase(around, when) }),
      }),
    );
    return doseWords(since, earlier, day !== undefined && isRecent(day, today));
  }
  const { element, day, times, before } = said;
  const words = wordsFor(element);
  return {
    key: times === 1 ? 'known.revised' : 'known.revisedtimes',
    days: { day },
    times,
    words,
    earlier: [readStatement(element, clean(before), kind, around)],
    ...markFor(words, isRecent(day, today)),
  };
}

const NONE: Readonly<Record<string, TextKey>> = {
  'not recorded': 'known.notsaid',
  'not to be given': 'known.forbidden',
};

function readStatement(element: string, before: string, kind: string, around: PageAround): Earlier {
  const none = Object.hasOwn(NONE, before) ? NONE[before] : undefined;
  if (none !== undefined) return { key: none };
  const sets: Readonly<Record<string, CodeSet | undefined>> = {
    // In English, both are called `status`.
    medicationCodeableConcept: undefined,
    clinicalStatus: kind === 'medications' ? 'medicationStatus' : 'clinicalStatus',
    verificationStatus: 'verificationStatus',
    criticality: 'criticality',
  };
  const set = sets[element];
  if (set !== undefined) return { text: inLanguage(set, before, around) };
  const write = Object.hasOwn(WRITERS, element) ? WRITERS[element] : undefined;
  return { text: write === undefined ? before : write(before, around) };
}

const WRITERS: Readonly<Record<string, (text: string, around: PageAround) => string>> = {
  dosage: doseInLanguage,
  value: valueInLanguage,
  reaction: reactionsInLanguage,
};

/** Returns a dosage from a narrative in the page's language. If the name of another medicine precedes it, the name is kept. */
function doseInLanguage(dose: string, { lang, day }: PageAround): string {
  const own = translateDoses(dose, { lang, day });
  if (own !== undefined) return own;
  const [, name, rest = ''] = /^(.+?): (.+)$/.exec(dose) ?? [];
  const said = translateDoses(rest, { lang, day });
  return said === undefined ? dose : `${name}: ${said}`;
}

/** Returns a value from a narrative, with its number in the language's notation. */
function valueInLanguage(value: string, { lang }: PageAround): string {
  const [, sign = '', number = '', unit = ''] =
    /^([<>≤≥]?)(\d[\d,]*(?:\.\d+)?)( [^\d].*)?$/.exec(value) ?? [];
  const plain = number.replaceAll(',', '');
  return [plain, formatDecimal(plain, 'en')].includes(number)
    ? `${sign}${formatDecimal(plain, lang)}${unit}`
    : value;
}

/** Returns reactions from a narrative, with their severities in the page's language. */
function reactionsInLanguage(reactions: string, around: PageAround): string {
  return reactions.replace(
    / \(([a-z]+)\)/g,
    (_, word: string) => ` – ${inLanguage('severity', word, around)}`,
  );
}

/** Translates the English word for a code to the page's language; returns any other words unchanged. */
function inLanguage(set: CodeSet, word: string, { lang }: PageAround): string {
  const code = set === 'medicationStatus' && word === 'active' ? word : findCodeByWord('en', set, word);
  return code === undefined ? word : (findCodeWord(lang, set, code) ?? word);
}

/** Returns the row for a refuted allergy, based on its versions. */
export function refutedRow({ told, name }: Allergy, around: PageAround): RefutedRow {
  const withdrawal = findWithdrawal(told);
  const { clinicalStatus, verificationStatus, criticality } = withdrawal?.before ?? {};
  const word = (set: CodeSet, concept: Json | undefined): string[] =>
    around
      .codes(concept)
      .map((code) => findCodeWord(around.lang, set, code) ?? code)
      .slice(0, 1);
  return makeRefuted(
    {
      name: around.clean(name),
      day: (withdrawal?.at ?? around.clean(told.value.recordedDate)).slice(0, 10),
      isRecorded: withdrawal === undefined,
      before: [
        ...word('clinicalStatus', clinicalStatus),
        ...word('verificationStatus', verificationStatus),
        ...(criticality === undefined
          ? []
          : [findCodeWord(around.lang, 'criticality', around.clean(criticality)) ?? '']),
      ],
    },
    around,
  );
}

/** Returns the row for a refuted entry that a summary's narrative describes. */
export function toldRefutedRow(
  { name, day = '', isRecorded, before }: RefutedWords,
  around: PageAround,
): RefutedRow {
  const sets: readonly CodeSet[] = ['clinicalStatus', 'verificationStatus', 'criticality'];
  const inWords = before.map((word) => {
    const set = sets.find((each) => findCodeByWord('en', each, word) !== undefined);
    return around.clean(set === undefined ? word : inLanguage(set, word, around));
  });
  return makeRefuted({ name: around.clean(name), day, isRecorded, before: inWords }, around);
}

function makeRefuted(
  { name, day, isRecorded, before }: RefutedWords & { readonly day: string },
  { lang }: PageAround,
): RefutedRow {
  const comma = separator({ lang }, ',');
  const said = before.filter((word) => word !== '').join(comma);
  return {
    name,
    state: findCodeWord(lang, 'verificationStatus', 'refuted') ?? 'refuted',
    ...(day === '' ? {} : { since: { key: isRecorded ? 'known.recorded' : 'known.since', days: { day } } }),
    // A comma separates the status from the day of recording, but not from the day since which the status applies.
    by: isRecorded ? comma : ' ',
    ...(said === '' ? {} : { before: { key: 'known.wasbefore', values: { text: said } } }),
  };
}
