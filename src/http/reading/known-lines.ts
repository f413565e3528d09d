/**
 * Describes a record's allergies, medicines, problems and vaccinations in words: one line for each, in which every date has
 * its meaning.
 */
import type { ClinicalEntry } from '#queries/rest/clinical-entries.ts';
import type { Absence } from '#src/clinical/reading/absence.ts';
import type { Allergy } from '#src/clinical/reading/allergies.ts';
import { type Dated, happened } from '#src/clinical/reading/dates.ts';
import { dosesInWords } from '#src/clinical/reading/doses/dose.ts';
import { type MedicinePeriod, medicinePeriods } from '#src/clinical/reading/medicine-periods.ts';
import type { Medicine, MedicineSource } from '#src/clinical/reading/medicines.ts';
import type { findCodeWord } from '#src/clinical/reading/names/code-words.ts';
import { nameCoded } from '#src/clinical/reading/names/name-code.ts';
import {
  absencePhrases,
  allergyPhrases,
  dosePhrases,
  episodePhrases,
  medicinePhrases,
  repeatPhrases,
  stateOfMedicine,
  substitutionPhrases,
} from '#src/clinical/reading/phrases.ts';
import type { Problem, ProblemSource } from '#src/clinical/reading/problems.ts';
import type { Revision } from '#src/clinical/reading/revisions.ts';
import { subpotentText, type Vaccination } from '#src/clinical/reading/vaccinations.ts';
import { notes } from '#src/clinical/reading/words.ts';
import { text } from '#src/fhir/parts.ts';
import type { Json } from '#src/shared/json/json.ts';
import type { Texts } from '../pages/texts.ts';
import { codeLabel, findLabel } from './code-label.ts';
import { dateText } from './day-text.ts';
import type { Known } from './known.ts';
import { codeWord, phraseText, whenText } from './known-words.ts';
import {
  doseChangeText,
  reactionsText,
  recentDoseText,
  recentText,
  revisionTexts,
} from './revision-words.ts';

/** The inputs for lines. */
export interface LinePlace {
  readonly say: Texts;
  readonly known: Pick<Known, 'name' | 'person' | 'before'>;
}

/** A badge next to a name. */
export type Badge = readonly [kind: 'good' | 'warn' | 'plain', words: string];

/** For an entry that an AI changed, returns in words what it stated in the version that another author wrote before. */
function beforeText(place: LinePlace, entry: ClinicalEntry): string | undefined {
  const { say, known } = place;
  const facts = known.before(entry);
  const said = facts === undefined ? [] : sayStatements(place, facts);
  return said.length === 0 ? undefined : say('known.before', { text: say.list(said) });
}

/** Returns in words what an entry stated in one version: its name, its dosage and its statuses. */
export function sayStatements(place: LinePlace, facts: Known['facts']): string[] {
  return [
    ...facts.allergies.map((each) => [
      allergyName(place, each),
      ...badgeWords(allergyBadges(place, each, codeWord)),
    ]),
    ...facts.medicines.map((each) => [
      medicineName(place, each),
      dosesText(place, each) ?? '',
      ...badgeWords([medicineBadge(place, each)]),
    ]),
    ...facts.problems.map((each) => [problemName(place, each), ...badgeWords(problemBadges(place, each))]),
    ...facts.vaccinations.map(({ name }) => [name ?? '']),
    ...Object.values(facts.absences).flatMap((absences) =>
      absences.map((each) => [absenceName(place, each)]),
    ),
  ]
    .flat()
    .filter((each) => each !== '');
}

const badgeWords = (badges: readonly Badge[]): string[] => badges.map(([, words]) => words);

/** An entry on which a row is based, with its own statement in words. */
export interface Source {
  readonly entry: ClinicalEntry;
  readonly says: readonly string[];
}

/** An allergy, a medicine, a problem or a vaccine in words. */
export interface KnownLine {
  readonly title: string;
  readonly badges: readonly Badge[];
  /** The line's statements; every date has its meaning. */
  readonly details: readonly string[];
  /** The sources; the first one is the main source. */
  readonly sources: readonly Source[];
  /** The status as a code; undefined if it isn't recorded. */
  readonly status: string | undefined;
  readonly dated: Dated;
  /** Of a medicine. */
  readonly periods: readonly MedicinePeriod<ClinicalEntry>[];
}

/** A line's status, and what was changed. */
interface LineState extends Pick<KnownLine, 'status' | 'dated'>, Partial<Pick<KnownLine, 'periods'>> {
  readonly revisions?: readonly Revision[];
  readonly isOver?: boolean;
  /** For a medicine: the previous dosage in words, and the badge for a recent change. */
  readonly dose?: { readonly changed: string | undefined; readonly recent: string | undefined };
}

function makeLine(
  place: LinePlace,
  title: string,
  badges: readonly Badge[],
  details: readonly (string | undefined)[],
  sources: readonly Source[],
  { status, dated, periods = [], revisions = [], isOver = false, dose }: LineState,
): KnownLine {
  const { say, known } = place;
  const [lead] = sources;
  const before = lead === undefined ? undefined : beforeText(place, lead.entry);
  const marks = isOver ? [] : new Set([recentText(say, revisions) ?? [], dose?.recent ?? []].flat());
  const [first, ...others] = details.filter((detail) => detail !== undefined && detail !== '');
  return {
    title,
    badges: [...badges, ...[...marks].map((mark): Badge => ['warn', mark])],
    details: [
      ...[first, ...revisionTexts(say, known.name, revisions), dose?.changed],
      ...[...others, before],
    ].flatMap((detail) => (detail === undefined || detail === '' ? [] : [detail])),
    sources,
    status,
    dated,
    periods,
  };
}

/** Returns, in words, what a statement of absence says is absent. */
export function absenceName({ say }: LinePlace, { code, name }: Absence<ClinicalEntry>): string {
  return findLabel(say, 'absence', code) ?? name ?? code;
}

/** Returns the line for a statement of absence. */
export function absenceLine(place: LinePlace, absence: Absence<ClinicalEntry>): KnownLine {
  const { say } = place;
  const { sources, dated, uncertainty } = absence;
  const [lead] = sources;
  const also = absencePhrases({ ...absence, words: undefined, dated: NO_DATE, by: undefined });
  const phrases = absencePhrases({ ...absence, against: [], isAgainstUnnamed: false }).map((phrase) =>
    phraseText(say, phrase),
  );
  const isDated = dated.date !== null;
  return makeLine(
    place,
    absenceName(place, absence),
    [
      ...also.map((phrase): Badge => ['warn', phraseText(say, phrase)]),
      ...(uncertainty === undefined ? [] : [plain(say, 'verificationStatus', uncertainty)]),
    ],
    [
      ...(isDated || lead === undefined ? [] : [whenText(say, dated, lead)]),
      ...phrases,
      notes(lead?.value.note),
    ],
    sources.map((entry) => ({ entry, says: [whenText(say, happened(entry), entry)] })),
    { status: undefined, dated },
  );
}

const NO_DATE: Dated = { date: null, at: Number.NEGATIVE_INFINITY, means: 'recorded' };

/** Returns an allergy's name. */
export function allergyName({ say }: LinePlace, { name }: Allergy<ClinicalEntry>): string {
  return name ?? say('entry.unnamed');
}

/** Returns the line for an allergy. */
export function allergyLine(place: LinePlace, allergy: Allergy<ClinicalEntry>): KnownLine {
  const { say, known } = place;
  const { value } = allergy.told;
  const categories = Array.isArray(value.category) ? value.category : [];
  return makeLine(
    place,
    allergyName(place, allergy),
    allergyBadges(place, allergy),
    [
      reactionsText(say, known.name, value.reaction, allergy.name),
      ...categories.map((category) => codeWord(say, 'allergyCategory', text(category))),
      allergyPhrases(allergy).map((phrase) => phraseText(say, phrase))[0] ??
        whenText(say, allergy.dated, allergy.told),
      notes(value.note),
    ],
    [{ entry: allergy.told, says: [] }],
    allergy,
  );
}

/** @param word returns the word for the risk; by default a label, which begins with a capital letter */
function allergyBadges(
  { say }: LinePlace,
  { isOver, isCritical, status, uncertainty }: Allergy<ClinicalEntry>,
  word: (...asked: Parameters<typeof codeLabel>) => string | undefined = codeLabel,
): readonly Badge[] {
  const critical: readonly Badge[] = isCritical ? [['warn', word(say, 'criticality', 'high') ?? 'high']] : [];
  return [
    ...(isOver && status !== undefined ? [plain(say, 'clinicalStatus', status)] : critical),
    ...(uncertainty === undefined ? [] : [plain(say, 'verificationStatus', uncertainty)]),
  ];
}

function plain(say: Texts, set: Parameters<typeof findCodeWord>[1], code: string): Badge {
  return ['plain', codeWord(say, set, code) ?? code];
}

/** Returns the words that say how something is uncertain. */
export function uncertainText({ say }: LinePlace, code: string | undefined): string | undefined {
  return codeWord(say, 'verificationStatus', code);
}

/** Returns a medicine's name. */
export function medicineName({ say }: LinePlace, { name }: Medicine<ClinicalEntry>): string {
  return name ?? say('entry.unnamed');
}

/**
 * Returns how a medicine is taken. Each dosage is listed with its source's name for the medicine, if that is different, and
 * with whatever distinguishes it from the other dosages.
 */
export function dosesText({ say }: LinePlace, medicine: Medicine<ClinicalEntry>): string | undefined {
  const { name, doses } = medicine;
  const style = { lang: say.lang, day: (date: string) => dateText(say, date) };
  const said = doses.map((dose) => {
    const words = dosesInWords(dose.dosage, style) ?? '';
    const apart = dosePhrases(dose, medicine).map((phrase) => phraseText(say, phrase));
    const told = apart.length === 0 ? words : `${words} (${say.list(apart)})`;
    return dose.name === undefined || dose.name.toLowerCase() === name?.toLowerCase()
      ? told
      : `${dose.name}: ${told}`;
  });
  return said.length === 0 ? undefined : said.join(' | ');
}

/** Returns the line for a medicine. */
export function medicineLine(place: LinePlace, medicine: Medicine<ClinicalEntry>): KnownLine {
  const { say } = place;
  const { sources, reasons, standing, lead } = medicine;
  const ordered = [lead, ...sources.filter((source) => source !== lead)];
  const said = sources.filter((source) => source.standing === standing);
  return makeLine(
    place,
    medicineName(place, medicine),
    [medicineBadge(place, medicine)],
    [
      dosesText(place, medicine),
      ...substitutionPhrases(medicine).map((phrase) => phraseText(say, phrase)),
      ...medicineDates(place, { ...medicine, sources: said }),
      reasons.length === 0 || standing === 'forbidden'
        ? undefined
        : say('known.for', { reason: say.list(reasons) }),
      ...new Set(said.map(({ told }) => notes(told.value.note))),
    ],
    ordered.map((source) => ({ entry: source.told, says: sourceWords(place, source) })),
    {
      ...medicine,
      periods: medicinePeriods(medicine),
      isOver: standing === 'past',
      dose: { changed: doseChangeText(say, medicine), recent: recentDoseText(say, medicine) },
    },
  );
}

/** Returns what one of a medicine's sources states: its status and its dates. */
function sourceWords(place: LinePlace, source: MedicineSource<ClinicalEntry>): string[] {
  const { prescribed: day } = source;
  const prescribed = day === undefined ? undefined : { first: day, last: day, times: 1 };
  const [, state] = medicineBadge(place, source);
  return [
    state,
    ...medicineDates(place, {
      ...source,
      ...{ prescribed, contradicted: undefined, planned: undefined, sources: [source] },
    }),
  ];
}

/** Returns the badge for a medicine's status. */
export function medicineBadge(
  { say, known }: LinePlace,
  {
    standing,
    status,
    contradicted,
  }: Pick<Medicine, 'standing' | 'status'> & Partial<Pick<Medicine, 'contradicted'>>,
): Badge {
  const state = codeWord(say, 'medicationStatus', status) ?? status;
  const said = stateOfMedicine({ standing, status }, known.person.died);
  if (said === 'forbidden') return ['warn', say('known.forbidden')];
  if (said === 'planned') return plain(say, 'medicationStatus', 'intended');
  if (said !== 'plain') return ['plain', say(`known.${said}`, { state })];
  if (contradicted !== undefined) return ['warn', state];
  return [standing === 'current' && status === 'active' ? 'good' : 'plain', state];
}

/** Returns when a medicine was taken and prescribed; if neither is known, returns when it was entered. */
function medicineDates(
  { say }: LinePlace,
  medicine: Parameters<typeof medicinePhrases>[0] & Pick<Medicine<ClinicalEntry>, 'sources'>,
): string[] {
  const said = medicinePhrases(medicine).map((phrase) => phraseText(say, phrase));
  const [source] = medicine.sources;
  return said.length > 0 || source === undefined ? said : [whenText(say, source.dated, source.told)];
}

/** Returns a problem's name. */
export function problemName({ say }: LinePlace, { name }: Problem<ClinicalEntry>): string {
  return name ?? say('entry.unnamed');
}

/** Returns the line for a problem. */
export function problemLine(place: LinePlace, problem: Problem<ClinicalEntry>): KnownLine {
  const { say, known } = place;
  const { sources, oldest, isOver, isOfDeceased } = problem;
  const lead = sources[0] ?? oldest;
  const { value } = lead.told;
  return makeLine(
    place,
    problemName(place, problem),
    problemBadges(place, problem),
    [
      known.name(value.severity),
      known.name(value.bodySite),
      ...problemDates(say, isOver && !isOfDeceased ? lead : oldest, lead),
      ...repeatPhrases(problem).map((phrase) => phraseText(say, phrase)),
      notes(value.note),
    ],
    sources.map((source) => ({ entry: source.told, says: problemDates(say, source, source) })),
    problem,
  );
}

/**
 * Returns when a problem began according to one source, and when it ended according to another. If they don't say, returns
 * when it was entered.
 */
function problemDates(
  say: Texts,
  first: ProblemSource<ClinicalEntry>,
  last: ProblemSource<ClinicalEntry>,
): string[] {
  const said = episodePhrases(first, last).map((phrase) => phraseText(say, phrase));
  return said.length > 0 ? said : [whenText(say, first.dated, first.told)];
}

/** Returns a problem's badges, which show its status and whether it is uncertain. */
export function problemBadges(
  { say }: LinePlace,
  { status, uncertainty, isOfDeceased }: Problem,
): readonly Badge[] {
  const state = codeWord(say, 'clinicalStatus', status) ?? '';
  return [
    status === undefined
      ? ['plain', say('known.nostate')]
      : ['plain', isOfDeceased ? say('known.ofdeceased', { state }) : state],
    ...(uncertainty === undefined ? [] : [plain(say, 'verificationStatus', uncertainty)]),
  ];
}

/** Returns, in words, why a vaccine wasn't given. */
function reasonText(say: Texts, statusReason: Json | undefined): string | undefined {
  const text = nameCoded(say.lang, statusReason, 'noImmunization');
  return text === undefined ? undefined : say('known.statusreason', { text });
}

/** Returns the line for a vaccine. */
export function vaccinationLine(place: LinePlace, vaccination: Vaccination<ClinicalEntry>): KnownLine {
  const { say, known } = place;
  const { name, isGiven, doses } = vaccination;
  const doseDay = ({ when, dated, told }: (typeof doses)[number]): string => {
    const day = when ?? whenText(say, dated, told);
    const subpotent = subpotentText(told.value, say.lang, known.name);
    return subpotent === undefined ? day : `${day} (${subpotent})`;
  };
  return makeLine(
    place,
    name ?? say('entry.unnamed'),
    isGiven ? [] : [plain(say, 'immunizationStatus', 'not-done')],
    [
      say.list(doses.map(doseDay)),
      doses.length === 1 || !isGiven ? undefined : say('known.doses', { doses: doses.length }),
      reasonText(say, doses[0]?.told.value.statusReason),
      doses[0] === undefined ? undefined : notes(doses[0].told.value.note),
    ],
    doses.map((dose) => ({ entry: dose.told, says: [doseDay(dose)] })),
    {
      status: isGiven ? 'completed' : 'not-done',
      dated: vaccination.dated,
      revisions: doses.flatMap(({ revisions }) => revisions),
    },
  );
}
