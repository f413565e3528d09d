/** Makes the rows of a record's allergies, medicines, problems and vaccinations, each date with its meaning. */
import type { ClinicalEntry } from '#queries/rest/clinical-entries.ts';
import type { Allergy } from '#src/clinical/reading/allergies.ts';
import { dosesInWords } from '#src/clinical/reading/doses/dose.ts';
import type { Medicine, MedicineSource } from '#src/clinical/reading/medicines.ts';
import type { findCodeWord } from '#src/clinical/reading/names/code-words.ts';
import {
  allergyPhrases,
  episodePhrases,
  medicinePhrases,
  repeatPhrases,
  stateOfMedicine,
} from '#src/clinical/reading/phrases.ts';
import type { Problem, ProblemSource } from '#src/clinical/reading/problems.ts';
import type { Vaccination } from '#src/clinical/reading/vaccinations.ts';
import { notes } from '#src/clinical/reading/words.ts';
import { objects, text } from '#src/fhir/parts.ts';
import { type Html, html } from '#src/shared/html.ts';
import { codeLabel } from '../code-label.ts';
import { originAfter, originLink } from '../entries.ts';
import { dateText, type OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';
import type { Known } from './known.ts';
import { codeWord, phraseText, whenText } from './known-words.ts';

/** The inputs of rows. */
export interface RowPlace {
  readonly visit: Visit;
  readonly record: OpenRecord;
  readonly known: Pick<Known, 'name' | 'person' | 'before'>;
}

/** A mark beside a name. */
type Badge = readonly [kind: 'good' | 'warn' | 'plain', words: string];

/** Returns in words the version of an entry that somebody else had written before an AI changed it. */
function beforeText(place: RowPlace, entry: ClinicalEntry): string | undefined {
  const { visit, known } = place;
  const facts = known.before(entry);
  if (facts === undefined) return undefined;
  const said = [
    ...facts.allergies.map((each) => [allergyName(place, each), ...badgeWords(allergyBadges(place, each))]),
    ...facts.medicines.map((each) => [
      medicineName(place, each),
      dosesText(place, each) ?? '',
      ...badgeWords([medicineBadge(place, each)]),
    ]),
    ...facts.problems.map((each) => [problemName(place, each), ...badgeWords(problemBadges(place, each))]),
    ...facts.vaccinations.map(({ name }) => [name ?? '']),
  ].flat();
  if (said.length === 0) return undefined;
  return visit.say('known.before', { text: visit.say.list(said.filter((each) => each !== '')) });
}

const badgeWords = (badges: readonly Badge[]): string[] => badges.map(([, words]) => words);

/** An entry on which a row is based, and its own statement in words. */
interface Source {
  readonly entry: ClinicalEntry;
  readonly says: readonly string[];
}

/**
 * @param sources the first one leads; the others are folded, each with its own statement
 */
function renderKnownRow(
  place: RowPlace,
  title: string,
  badges: readonly Badge[],
  details: readonly (string | undefined)[],
  sources: readonly Source[],
): Html {
  const { visit, record } = place;
  const { say } = visit;
  const [lead, ...others] = sources;
  const before = lead === undefined ? undefined : beforeText(place, lead.entry);
  const said = [...details, before].filter((detail) => detail !== undefined && detail !== '');
  const linkTo = ({ type, id }: ClinicalEntry): string => `${type}/${id}`;
  const link = lead === undefined ? html`` : originAfter(visit, record, linkTo(lead.entry), title);
  const more =
    others.length === 0
      ? html``
      : html`<details class="sources"><summary>${say('known.others', { entries: others.length })}</summary>
<ul class="bullets small">
${others.map(
  ({
    entry,
    says,
  }) => html`<li>${says.map((each) => html`<bdi>${each}</bdi> · `)}${originLink(visit, record, linkTo(entry), title)}</li>
`,
)}</ul></details>
`;
  return html`<li><p class="row-top"><strong><bdi>${title}</bdi></strong> <span>${badges.map(([kind, words]) => html`<span class="badge ${kind}"><span class="first">${words}</span></span> `)}</span></p>
<p class="quiet small">${said.map((detail, n) => html`${n === 0 ? '' : ' · '}<bdi>${detail ?? ''}</bdi>`)}${link}</p>
${more}</li>
`;
}

/** Returns an allergy's name. */
export function allergyName({ visit }: RowPlace, { name }: Allergy<ClinicalEntry>): string {
  return name ?? visit.say('entry.unnamed');
}

/** Returns the row of an allergy. */
export function allergyRow(place: RowPlace, allergy: Allergy<ClinicalEntry>): Html {
  const { visit, known } = place;
  const { value } = allergy.told;
  const reactions = objects(value.reaction).map((each) =>
    [
      known.name(each.manifestation) ?? text(each.description),
      codeWord(visit, 'severity', text(each.severity)),
    ]
      .filter((part) => part !== undefined)
      .join(', '),
  );
  const categories = Array.isArray(value.category) ? value.category : [];
  return renderKnownRow(
    place,
    allergyName(place, allergy),
    allergyBadges(place, allergy),
    [
      visit.say.list(reactions.filter((reaction) => reaction !== '')),
      ...categories.map((category) => codeWord(visit, 'allergyCategory', text(category))),
      allergyPhrases(allergy).map((phrase) => phraseText(visit, phrase))[0] ??
        whenText(visit, allergy.dated, allergy.told),
      notes(value.note),
    ],
    [{ entry: allergy.told, says: [] }],
  );
}

function allergyBadges(
  { visit }: RowPlace,
  { isOver, isCritical, status, uncertainty }: Allergy<ClinicalEntry>,
): readonly Badge[] {
  const { say } = visit;
  const critical: readonly Badge[] = isCritical ? [['warn', codeLabel(say, 'criticality', 'high')]] : [];
  return [
    ...(isOver && status !== undefined ? [plain(visit, 'clinicalStatus', status)] : critical),
    ...(uncertainty === undefined ? [] : [plain(visit, 'verificationStatus', uncertainty)]),
  ];
}

function plain(visit: Visit, set: Parameters<typeof findCodeWord>[1], code: string): Badge {
  return ['plain', codeWord(visit, set, code) ?? code];
}

/** Returns the word for something that isn't certain. */
export function uncertainText({ visit }: RowPlace, code: string | undefined): string | undefined {
  return codeWord(visit, 'verificationStatus', code);
}

/** Returns a medicine's name. */
export function medicineName({ visit }: RowPlace, { name }: Medicine<ClinicalEntry>): string {
  return name ?? visit.say('entry.unnamed');
}

/** Returns how a medicine is taken, each dosage with the name of its source, if that is another. */
export function dosesText({ visit }: RowPlace, { name, doses }: Medicine<ClinicalEntry>): string | undefined {
  const { say } = visit;
  const style = { lang: say.lang, day: (date: string) => dateText(say, date) };
  const said = doses.map((dose) => {
    const words = dosesInWords(dose.dosage, style) ?? '';
    return dose.name === undefined || dose.name.toLowerCase() === name?.toLowerCase()
      ? words
      : `${dose.name}: ${words}`;
  });
  return said.length === 0 ? undefined : said.join(' | ');
}

/** Returns the row of a medicine. */
export function medicineRow(place: RowPlace, medicine: Medicine<ClinicalEntry>): Html {
  const { say } = place.visit;
  const { sources, reasons, standing, lead } = medicine;
  const ordered = [lead, ...sources.filter((source) => source !== lead)];
  const said = sources.filter((source) => source.standing === standing);
  return renderKnownRow(
    place,
    medicineName(place, medicine),
    [medicineBadge(place, medicine)],
    [
      dosesText(place, medicine),
      ...medicineDates(place, { ...medicine, sources: said }),
      reasons.length === 0 ? undefined : say('known.for', { reason: say.list(reasons) }),
      ...new Set(said.map(({ told }) => notes(told.value.note))),
    ],
    ordered.map((source) => ({ entry: source.told, says: sourceWords(place, source) })),
  );
}

/** Returns the statement of one source of a medicine: its state and its dates. */
function sourceWords(place: RowPlace, source: MedicineSource<ClinicalEntry>): string[] {
  const { prescribed: day } = source;
  const prescribed = day === undefined ? undefined : { first: day, last: day, times: 1 };
  const [, state] = medicineBadge(place, source);
  return [
    state,
    ...medicineDates(place, { ...source, prescribed, contradicted: undefined, sources: [source] }),
  ];
}

/** Returns the state of a medicine. */
export function medicineBadge(
  { visit, known }: RowPlace,
  { standing, status }: Pick<Medicine, 'standing' | 'status'>,
): Badge {
  const { say } = visit;
  const state = codeWord(visit, 'medicationStatus', status) ?? status;
  const said = stateOfMedicine({ standing, status }, known.person.died);
  if (said === 'forbidden') return ['warn', say('known.forbidden')];
  if (said === 'plain') return [standing === 'current' && status === 'active' ? 'good' : 'plain', state];
  return ['plain', say(`known.${said}`, { state })];
}

/** Returns when a medicine was taken and prescribed; when it was entered, if nothing else is known. */
function medicineDates(
  { visit }: RowPlace,
  medicine: Parameters<typeof medicinePhrases>[0] & Pick<Medicine<ClinicalEntry>, 'sources'>,
): string[] {
  const said = medicinePhrases(medicine).map((phrase) => phraseText(visit, phrase));
  const [source] = medicine.sources;
  return said.length > 0 || source === undefined ? said : [whenText(visit, source.dated, source.told)];
}

/** Returns a problem's name. */
export function problemName({ visit }: RowPlace, { name }: Problem<ClinicalEntry>): string {
  return name ?? visit.say('entry.unnamed');
}

/** Returns the row of a problem. */
export function problemRow(place: RowPlace, problem: Problem<ClinicalEntry>): Html {
  const { visit, known } = place;
  const { sources, oldest, isOver } = problem;
  const lead = sources[0] ?? oldest;
  const { value } = lead.told;
  return renderKnownRow(
    place,
    problemName(place, problem),
    problemBadges(place, problem),
    [
      ...problemDates(visit, isOver ? lead : oldest, lead),
      ...repeatPhrases(problem).map((phrase) => phraseText(visit, phrase)),
      known.name(value.severity),
      known.name(value.bodySite),
      notes(value.note),
    ],
    sources.map((source) => ({ entry: source.told, says: problemDates(visit, source, source) })),
  );
}

/** Returns when a problem began by one source, and ended by another; when it was entered, if they don't say. */
function problemDates(
  visit: Visit,
  first: ProblemSource<ClinicalEntry>,
  last: ProblemSource<ClinicalEntry>,
): string[] {
  const said = episodePhrases(first, last).map((phrase) => phraseText(visit, phrase));
  return said.length > 0 ? said : [whenText(visit, first.dated, first.told)];
}

/** Returns the marks of a problem: its state, and that it isn't certain. */
export function problemBadges({ visit }: RowPlace, { status, uncertainty }: Problem): readonly Badge[] {
  return [
    status === undefined ? ['plain', visit.say('known.nostate')] : plain(visit, 'clinicalStatus', status),
    ...(uncertainty === undefined ? [] : [plain(visit, 'verificationStatus', uncertainty)]),
  ];
}

/** Returns the row of a vaccine. */
export function vaccinationRow(place: RowPlace, vaccination: Vaccination<ClinicalEntry>): Html {
  const { visit } = place;
  const { say } = visit;
  const { name, isGiven, doses } = vaccination;
  const doseDay = ({ when, dated, told }: (typeof doses)[number]): string =>
    when ?? whenText(visit, dated, told);
  return renderKnownRow(
    place,
    name ?? say('entry.unnamed'),
    isGiven ? [] : [plain(visit, 'immunizationStatus', 'not-done')],
    [
      say.list(doses.map(doseDay)),
      doses.length === 1 ? undefined : say('known.doses', { doses: doses.length }),
      doses[0] === undefined ? undefined : notes(doses[0].told.value.note),
    ],
    doses.map((dose) => ({ entry: dose.told, says: [doseDay(dose)] })),
  );
}
