/** Writes the dates and medicines of a reading in English, for contexts and summaries. */
import { objects, text } from '#src/fhir/parts.ts';
import type { Json } from '#src/shared/json/json-value.ts';
import { dayIn } from '#src/shared/time/day.ts';
import type { Absence } from './absence.ts';
import { ageText } from './changes.ts';
import type { Dated } from './dates.ts';
import type { Medicine } from './medicines.ts';
import { findCodeWord } from './names/code-words.ts';
import { nameConcept } from './names/name.ts';
import { nameCoded, nameCodes } from './names/name-code.ts';
import type { Death } from './person.ts';
import {
  absencePhrases,
  datePhrase,
  doseChangePhrases,
  medicinePhrases,
  type Phrase,
  type PhraseName,
  type StateName,
  stateOfMedicine,
} from './phrases.ts';
import type { Problem } from './problems.ts';
import { findWithdrawal, type Revision, type Statement } from './revisions.ts';
import type { Told } from './told.ts';
import { dosage, joined } from './words.ts';

const WORDS: Readonly<Record<PhraseName, string>> = {
  statusreason: 'reason: {text}',
  taken: 'taken {from} to {until}',
  takenfrom: 'taken from {day}',
  takensince: 'taken since {day}',
  takenuntil: 'taken until {day}',
  takenon: 'taken on {day}',
  takenplanned: 'taken from {from}, planned until {until}',
  planned: 'planned from {from} to {until}',
  plannedfrom: 'planned from {day}',
  planneduntil: 'planned until {day}',
  stopped: 'date not recorded',
  prescribed: 'prescribed {day}',
  prescribedtwice: 'prescribed {from} and {until}',
  prescribedtimes: 'prescribed {times} times, {from} to {until}',
  prescribedsame: 'prescribed {times} times on {day}',
  ordered: 'ordered {day}',
  contradicted: 'also recorded as {state}',
  contradictedon: 'also recorded as {state} on {day}',
  contradictedorder: 'also recorded as {state} (prescription of {day})',
  contradictedorderon: 'also recorded as {state} on {day} (prescription)',
  alsoplanned: 'also planned',
  alsoplannedfrom: 'also planned from {day}',
  afterdeath: 'dated after the recorded death ({day})',
  alsorecorded: 'also recorded: {text}',
  alsounnamed: 'also recorded: an entry without a name',
  nosubstitution: 'no substitution',
  nosubstitutionfor: 'no substitution: {text}',
  inwords: 'recorded in words: “{text}”',
  statedby: 'stated by {text}',
  dosestate: '{state}',
  doseplanned: 'planned',
  recorded: 'recorded {day}',
  reported: 'reported {day}',
  lastreaction: 'last reaction {day}',
  times: 'recorded {times} times',
  timesfirst: 'recorded {times} times, first began {day}',
  timeslast: 'recorded {times} times, last began {day}',
  since: 'since {day}',
  onsetage: 'age at onset: {age}',
  onset: 'onset: {text}',
  until: 'until {day}',
  endage: 'age at end: {age}',
  end: 'end: {text}',
  on: '{day}',
};

/** Medicine statuses. */
const STATUSES = ['active', 'completed', 'stopped', 'not-taken', 'on-hold', 'intended', 'unknown'];

const FORM_OF: Readonly<Record<string, string>> = {
  times: '(?<times>\\d+)',
  state: '(?<state>.+)',
  text: '(?<text>.+)',
};
const DAY_FORM = (name: string): string => `(?<${name}>\\d{4}(?:-\\d\\d(?:-\\d\\d)?)?)`;

/** Returns a phrase in English. */
export function inEnglish({ says, days, times, state, age, text }: Phrase): string {
  const others: Readonly<Record<string, string | undefined>> = {
    times: String(times),
    state: statusWord(state ?? ''),
    age: age === undefined ? undefined : ageText('en', age),
    // Semicolons in the text would be misread, because readers of the whole line split it at semicolons.
    text:
      says === 'statusreason' || says === 'inwords' || says === 'nosubstitutionfor'
        ? text?.replace(/\s*;\s*/g, ', ')
        : text,
  };
  return WORDS[says].replace(/\{([a-z]+)\}/g, (_, name: string) => others[name] ?? dayIn(days[name] ?? ''));
}

/** The phrases about medicines, each with the pattern that its text matches. */
const FORMS = (
  [
    ...(['taken', 'takenplanned', 'takenfrom', 'takensince', 'takenuntil', 'takenon', 'stopped'] as const),
    ...([
      'statusreason',
      'planned',
      'plannedfrom',
      'planneduntil',
      'alsoplannedfrom',
      'alsoplanned',
      'afterdeath',
    ] as const),
    // The last pattern also matches the texts of the other three.
    ...(['contradictedorderon', 'contradictedorder', 'contradictedon', 'contradicted'] as const),
    ...([
      'prescribed',
      'prescribedtwice',
      'prescribedtimes',
      'prescribedsame',
      'ordered',
      'recorded',
    ] as const),
  ] satisfies readonly PhraseName[]
).map((says) => {
  const form = escaped(WORDS[says]).replace(
    /\{([a-z]+)\}/g,
    (_, name: string) => FORM_OF[name] ?? DAY_FORM(name),
  );
  return { says, form: new RegExp(`^${form}$`) };
});

function escaped(words: string): string {
  return words.replace(/[()]/g, '\\$&');
}

/** Returns the phrases about a medicine in a text; the inverse of `inEnglish`. Parts that aren't phrases are skipped. */
export function readEnglish(text: string): Phrase[] {
  return text.split('; ').flatMap((part): Phrase[] => {
    for (const { says, form } of FORMS) {
      const groups = form.exec(part)?.groups;
      if (groups === undefined && !form.test(part)) continue;
      const { times, state, text, ...days } = groups ?? {};
      const code = STATUSES.find((each) => statusWord(each) === state);
      return [
        {
          says,
          days,
          ...(times === undefined ? {} : { times: Number(times) }),
          ...(state === undefined ? {} : { state: code ?? state }),
          ...(text === undefined ? {} : { text }),
        },
      ];
    }
    return [];
  });
}

/** Returns a phrase about a beginning or end, without the words that its column heading already contains. */
export function inCell(phrase: Phrase): string {
  return inEnglish(phrase).replace(/^(?:since |until |onset: |end: )/, '');
}

/** Returns a statement of absence: `no known allergies; recorded 2024-05-01; also recorded: Penicillin`. */
export function absenceText(absence: Absence): string {
  const { code, name = code, uncertainty } = absence;
  return [
    findCodeWord('en', 'absence', code) ?? name,
    ...(uncertainty === undefined
      ? []
      : [findCodeWord('en', 'verificationStatus', uncertainty) ?? uncertainty]),
    ...absencePhrases(absence).map(inEnglish),
  ].join('; ');
}

/** Returns a date with its meaning: `since 2019`, `recorded 2020-02-03`; undefined if the date is missing. */
export function dateText(dated: Dated): string | undefined {
  const phrase = datePhrase(dated);
  return phrase === undefined ? undefined : inEnglish(phrase);
}

/** Returns a medicine's state and since when it has had that state: `stopped; date not recorded; prescribed 2019-01-02`. */
export function standingText(medicine: Medicine, died: Death | undefined): string {
  return [stateWord(medicine, died), ...medicinePhrases(medicine).map(inEnglish)].join('; ');
}

/** Returns a problem's state in words; undefined if it isn't recorded. */
export function problemState({
  status,
  isOfDeceased,
}: Pick<Problem, 'status' | 'isOfDeceased'>): string | undefined {
  const word = nameCodes('en', 'clinicalStatus', status);
  return word !== undefined && isOfDeceased ? recordedAs(word) : word;
}

/**
 * Returns a dead person's state in words. Whether the state was recorded before the death or afterwards, as by a later import,
 * isn't known here.
 */
export function recordedAs(state: string): string {
  return `recorded as ${state} (person deceased)`;
}

/** Returns a medicine's state in words. */
export function stateWord(medicine: Pick<Medicine, 'standing' | 'status'>, died: Death | undefined): string {
  const status = statusWord(medicine.status);
  switch (stateOfMedicine(medicine, died)) {
    case 'forbidden':
      return 'not to be given';
    case 'unclear':
      return `recorded as ${status}, but its period is over`;
    case 'planned':
      return statusWord('intended');
    case 'ofdeceased':
      return recordedAs(status);
    case 'plain':
      return status;
  }
}

/** Patterns for the states of medicines; the codes for the words in them are in medicationStatus. */
const STATES: readonly (readonly [said: StateName, form: RegExp])[] = [
  ['unclear', /^recorded as (.+), but its period is over$/],
  ['ofdeceased', /^recorded as (.+) (?:before death|\(person deceased\))$/],
  ['plain', /^(.+)$/],
];
const CODES = [...STATUSES, 'draft', 'cancelled'];

/** Returns the medicine's state in a text that `standingText` wrote; undefined for other text. */
export function readState(text: string): { readonly said: StateName; readonly status: string } | undefined {
  const [state = ''] = text.split('; ');
  for (const [said, form] of STATES) {
    const word = form.exec(state)?.[1];
    const status = CODES.find((code) => statusWord(code) === word);
    if (status !== undefined) return { said, status };
  }
  return undefined;
}

/** Names of elements in the text about revisions. */
const ELEMENTS: Readonly<Record<string, string>> = {
  medicationCodeableConcept: 'medicine',
  clinicalStatus: 'status',
  verificationStatus: 'certainty',
  reaction: 'reactions',
  code: 'name',
  bodySite: 'body site',
  vaccineCode: 'vaccine',
};

/** Returns what was changed, when, and the previous content: `dosage changed 2026-05-12, before: 15 mg once a week`. */
export function revisionText({ element, at, before, times }: Revision): string {
  const often = times === 1 ? '' : ` ${times} times, last`;
  // Semicolons in the text would be misread, because readers of the whole line split it at semicolons.
  const said = beforeText(before).replace(/\s*;\s*/g, ', ');
  return `${ELEMENTS[element] ?? element} changed${often} ${dayIn(at)}, before: ${said}`;
}

/**
 * Returns the dosage before the current one: `dosage changed, prescribed 2026-05-12, before: 15 mg once a week (prescribed
 * 2025-11-03)`. If the two dosages can't be compared, returns `earlier dosage, before the one prescribed 2026-05-12: …`.
 * Undefined without an earlier dosage.
 */
export function doseChangeText({ name, doseChange }: Medicine): string | undefined {
  if (doseChange === undefined) return undefined;
  const { since, before } = doseChangePhrases(doseChange);
  const said = before.map(({ source, when }) => {
    const words = `${dosage(source.dosage) ?? 'not recorded'}${when === undefined ? '' : ` (${inEnglish(when)})`}`;
    const isNamed = source.name === undefined || source.name.toLowerCase() === name?.toLowerCase();
    return isNamed ? words : `${source.name}: ${words}`;
  });
  // Semicolons in the text would be misread, because readers of the whole line split it at semicolons.
  const doses = said.join(' | ').replace(/\s*;\s*/g, ', ');
  return doseChange.isCertain
    ? `dosage changed, ${inEnglish(since)}, before: ${doses}`
    : `earlier dosage, before the one ${inEnglish(since)}: ${doses}`;
}

function beforeText(before: Statement | undefined): string {
  if (before === undefined) return 'not recorded';
  if ('isForbidden' in before) return 'not to be given';
  if ('text' in before) return before.text;
  if ('doses' in before) return dosage(before.doses) ?? 'not recorded';
  if ('reactions' in before) return reactionsText(before.reactions);
  const { set, code } = before;
  return set === 'medicationStatus' ? statusWord(code) : (findCodeWord('en', set, code) ?? code);
}

function reactionsText(reactions: Json): string {
  const said = objects(reactions).map(({ manifestation, description, severity, substance }) => {
    const cause = nameConcept(substance);
    const words = [nameConcept(manifestation) ?? text(description), cause && `after ${cause}`];
    return joined([...words, text(severity) && `(${text(severity)})`], ' ');
  });
  return joined(said) ?? 'not recorded';
}

/**
 * Returns since when an entry has been refuted, and what the entry said before.
 * @param name what the entry was about
 */
export function refutedText(name: string, told: Told): string {
  const withdrawal = findWithdrawal(told);
  if (withdrawal === undefined) {
    const date = text(told.value.recordedDate);
    return date === undefined ? `${name}: refuted` : `${name}: refuted, recorded ${dayIn(date)}`;
  }
  const { clinicalStatus, verificationStatus, criticality } = withdrawal.before;
  const before = joined([
    nameCoded('en', clinicalStatus, 'clinicalStatus'),
    nameCoded('en', verificationStatus, 'verificationStatus'),
    nameCodes('en', 'criticality', criticality),
  ]);
  return joined([`${name}: refuted ${dayIn(withdrawal.at)}`, before && `before: ${before}`]) ?? name;
}

/** A refuted entry, read from its text. */
export interface RefutedWords {
  readonly name: string;
  /** A day, as a FHIR date; undefined if it isn't known. */
  readonly day: string | undefined;
  /** True if the day is the day on which the entry was recorded as refuted. */
  readonly isRecorded: boolean;
  /** The entry's previous statements, in English. */
  readonly before: readonly string[];
}

const REFUTED_FORM = new RegExp(
  `^(?<name>.*): refuted(?: ${DAY_FORM('since')})?(?:, recorded ${DAY_FORM('recorded')})?(?:, before: (?<before>.*))?$`,
);

/** Reads text that `refutedText` wrote; undefined for other text. */
export function readRefutedText(text: string): RefutedWords | undefined {
  const groups = REFUTED_FORM.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { name = '', since, recorded, before } = groups;
  return {
    name,
    day: since ?? recorded,
    isRecorded: since === undefined && recorded !== undefined,
    before: before?.split(', ') ?? [],
  };
}

/** A change, read from its text. */
export type ChangeWords =
  | { readonly element: string; readonly day: string; readonly times: number; readonly before: string }
  | {
      /** False if the two dosages can't be compared. */
      readonly isCertain: boolean;
      /**
       * The day since which the current dosage has applied. For an uncertain change, versions of `$summary` before 5 don't
       * contain it.
       */
      readonly since: Phrase | undefined;
      readonly doses: readonly DoseWords[];
    };

/** A dosage in English, and when it was prescribed or taken. */
export interface DoseWords {
  readonly dose: string;
  readonly when: Phrase | undefined;
}

const CHANGE_FORM = new RegExp(
  `^(?<name>[a-z ]+?) changed(?: (?<times>\\d+) times, last)? ${DAY_FORM('day')}, before: (?<before>.*)$`,
);
const DOSE_FORM =
  /^(?:dosage changed, (?<since>[^,]+), before|earlier dosage(?:, before the one (?<next>[^,:]+))?): (?<before>.*)$/;

/** Reads text that `revisionText` or `doseChangeText` wrote; undefined for other text. */
export function readChangeText(text: string): ChangeWords | undefined {
  const { since, next = since, before: doses } = DOSE_FORM.exec(text)?.groups ?? {};
  if (doses !== undefined)
    return {
      isCertain: since !== undefined,
      since: next === undefined ? undefined : readEnglish(next)[0],
      doses: readDoses(doses),
    };
  const { name, times = '1', day, before = '' } = CHANGE_FORM.exec(text)?.groups ?? {};
  if (name === undefined || day === undefined) return undefined;
  const element = Object.keys(ELEMENTS).find((each) => ELEMENTS[each] === name) ?? name;
  return { element, day, times: Number(times), before };
}

function readDoses(text: string): DoseWords[] {
  return text.split(' | ').map((each) => {
    const [, dose = each, when = ''] = /^(.*) \(([^()]+)\)$/.exec(each) ?? [];
    const [phrase] = readEnglish(when);
    return phrase === undefined ? { dose: each, when: undefined } : { dose, when: phrase };
  });
}

/** Returns a medicine's status in words; `active` stays as it is, because clinicians and models know this word. */
export function statusWord(code: string): string {
  if (code === 'unknown') return 'status unknown';
  return code === 'active' ? code : (findCodeWord('en', 'medicationStatus', code) ?? code);
}
