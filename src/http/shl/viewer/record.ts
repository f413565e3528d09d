/**
 * Reads a link's content into lists for the page: only texts and flags, never HTML. The data can come from anywhere, so each
 * member is checked before it is used.
 */

import { reactionCause } from '#src/clinical/reading/allergies.ts';
import { ageIn, ageText, readAge } from '#src/clinical/reading/changes.ts';
import { happened } from '#src/clinical/reading/dates.ts';
import { dayInWords } from '#src/clinical/reading/day-words.ts';
import { dosesInWords } from '#src/clinical/reading/doses/dose.ts';
import type { RefutedWords } from '#src/clinical/reading/english.ts';
import {
  type CodeSet,
  findCodeSet,
  findCodeWord,
  type WordLanguage,
} from '#src/clinical/reading/names/code-words.ts';
import { findConceptWord } from '#src/clinical/reading/names/concept-word.ts';
import { nameConcept } from '#src/clinical/reading/names/name.ts';
import { normalRange, placeOutside } from '#src/clinical/reading/numbers/normal-range.ts';
import {
  pressureText,
  quantityText,
  rangeText,
  ratioText,
  readMeasured,
  unitOfQuantity,
} from '#src/clinical/reading/numbers/quantity.ts';
import { type Death, readDeath } from '#src/clinical/reading/person.ts';
import { findPressure, systolicFirst } from '#src/clinical/reading/pressure.ts';
import { findValueRevision, type Statement } from '#src/clinical/reading/revisions.ts';
import { hasModifier, withdrawnAs } from '#src/clinical/reading/status.ts';
import type { Replaced } from '#src/clinical/reading/told.ts';
import type { ToldRow } from '#src/clinical/summary/not-listed.ts';
import { shownName } from '#src/fhir/human-name.ts';
import type { Json, JsonObject } from '#src/shared/json/json-value.ts';
import { resultName } from '../../pages/result-names.ts';
import { changesIn, toldRefutedRow } from './changed.ts';
import { changedIn, earlierEntries, earlierParagraphs, replacedVersions } from './earlier.ts';
import { groupRows } from './groups.ts';
import { forbiddenRow, isKnown, KNOWN, type KnownKind, knownRows, makePhrase, refutedRows } from './known.ts';
import { readNarratives } from './narratives.ts';
import {
  EMPTY,
  type Flag,
  type Kind,
  ORDER,
  type PageAround,
  type PagePhrase,
  type Part,
  type RefutedRow,
  type Row,
  type ShownFile,
  type ShownPatient,
  type ShownRecord,
  type ToldBefore,
} from './rows.ts';
import { joined, list, object, objectsIn, phraseMark, SEMICOLON, string, word } from './texts.ts';

/** Sections in the International Patient Summary, by their LOINC codes (https://hl7.org/fhir/uv/ips/STU2/). */
const SECTIONS: Readonly<Record<string, Kind>> = {
  '48765-2': 'allergies',
  '11450-4': 'problems',
  '10160-0': 'medications',
  '30954-2': 'results',
  '8716-3': 'vitals',
  '11369-6': 'immunizations',
  '47519-4': 'procedures',
  '46264-8': 'devices',
  '11348-0': 'past',
  '10162-6': 'pregnancy',
  '47420-5': 'functional',
  '18776-5': 'plan',
  '29762-2': 'social',
  '42348-3': 'directives',
};

/** The look-up functions and settings for building a row. */
interface Context extends Pick<PageAround, 'today' | 'lang' | 'changes' | 'replaced'> {
  readonly died: Death | undefined;
  readonly look: Look;
  /** The rows for medicines in a summary's narrative. */
  readonly told: readonly ToldRow[];
}

/** Returns the target of a Reference, or an empty object if it isn't found. */
type Look = (reference: Json | undefined, within: JsonObject) => JsonObject;

type Found = ReadonlyMap<string, JsonObject>;

const BY_TYPE: Readonly<Record<string, Kind>> = {
  AllergyIntolerance: 'allergies',
  MedicationStatement: 'medications',
  MedicationRequest: 'medications',
  DiagnosticReport: 'results',
  Immunization: 'immunizations',
  Procedure: 'procedures',
  Device: 'devices',
  DeviceUseStatement: 'devices',
  CarePlan: 'plan',
  Goal: 'plan',
  DocumentReference: 'documents',
  Encounter: 'other',
};

/** Types that only describe other resources. */
const UNSHOWN: readonly unknown[] = [
  'Bundle',
  'Composition',
  'Patient',
  'Practitioner',
  'PractitionerRole',
  'Organization',
  'Location',
  'Provenance',
  'Medication',
  'Specimen',
  'CareTeam',
  'RelatedPerson',
  'OperationOutcome',
];

/** Parses a file's JSON. Decimals keep their trailing zeros, because 1.50 and 1.5 differ in precision. */
export function parseFile(text: string): unknown {
  return JSON.parse(text.replace(/(?<!\\)("value":\s*)(-?\d+\.\d*0)(?=\s*[,}])/g, '$1"$2"'));
}

/** Returns the name of a CodeableConcept. */
const conceptName = (value: unknown): string => string(nameConcept(object(value)));

/** Returns a code in words; the code itself if it has no word. */
const codeWord = (lang: WordLanguage, set: CodeSet, code: unknown): string =>
  findCodeWord(lang, set, string(code)) ?? string(code);

/** Returns a CodeableConcept in words: the word for its code, or else its text. */
const codedWord = (lang: WordLanguage, set: CodeSet, value: unknown): string =>
  findConceptWord(lang, object(value), set) ?? conceptName(value);

/** Returns text that begins with a capital letter. */
const capital = (lang: WordLanguage, text: string): string =>
  text.slice(0, 1).toLocaleUpperCase(lang) + text.slice(1);

const listCodes = (value: unknown): string[] =>
  objectsIn(object(value).coding).map(({ code }) => string(code));

/**
 * Returns the lists of a record's resources.
 * @param resources the files in a link; Bundles contain further resources
 * @param today `YYYY-MM-DD`: periods that ended before this day are over
 * @param lang the language for numbers and doses
 */
export function readRecord(
  resources: readonly JsonObject[],
  today = new Date().toISOString().slice(0, 10),
  lang: WordLanguage = 'en',
): ShownRecord {
  const bundles = resources.filter(({ resourceType }) => resourceType === 'Bundle');
  const entries: JsonObject[] = [
    ...bundles.flatMap(({ entry }) => objectsIn(entry)),
    ...resources.filter(({ resourceType }) => resourceType !== 'Bundle').map((resource) => ({ resource })),
  ];
  const found = new Map<string, JsonObject>();
  const all = collectResources(entries, found);
  const composition = all.find(({ resourceType }) => resourceType === 'Composition');
  const placed = placesIn(composition, found);
  const patient = object(all.find(({ resourceType }) => resourceType === 'Patient'));
  const died = readDeath(patient);
  const look: Look = (reference, within) => lookUp(found, reference, within);
  const told = readNarratives(composition, kindOfSection);
  const { changes } = told;
  const replaced = replacedVersions(entries, found);
  const context: Context = { today, lang, died, look, told: told.medicines, changes, replaced };
  // If a summary's entry is in no section, it is there only because other entries refer to it.
  const findPlace = (each: JsonObject): Kind | undefined =>
    placed.get(each) ?? (composition === undefined || isDocument(each) ? findKind(each) : undefined);
  return {
    patient: readPatient(patient, lang, composition === undefined),
    made: string(object(composition).date) || string(bundles[0]?.timestamp),
    isSummary: composition !== undefined,
    isRecord: composition === undefined && bundles.some(isCollection) && !isOneDocument(all),
    ...groupSections(all, findPlace, context),
    onlyPast: told.onlyPast,
    notListed: told.notListed,
    refuted: readRefutedAllergies(all, told.refuted, context),
    changed: bundles.reduce((sum, bundle) => sum + changedIn(bundle), 0),
    before: [...paragraphsBefore(composition), ...rowsBefore(earlierEntries(entries), found, context)],
  };
}

/** Returns the allergies that somebody refuted, because readers may have known about them. */
function readRefutedAllergies(
  all: readonly JsonObject[],
  told: readonly RefutedWords[],
  context: Context,
): RefutedRow[] {
  const around = makeAround(context);
  const own = all.filter(
    (each) =>
      each.resourceType === 'AllergyIntolerance' && withdrawnAs(each) === 'refuted' && !hasModifier(each),
  );
  return [...refutedRows(own, around), ...told.map((each) => toldRefutedRow(each, around))];
}

const isCollection = ({ type }: JsonObject): boolean => type === 'collection';

/**
 * Returns whether the resources are the content of a link to a single document: one document with its bytes, and the Patient.
 */
function isOneDocument(all: readonly JsonObject[]): boolean {
  const others = all.filter(({ resourceType }) => resourceType !== 'Patient');
  const [only] = others;
  return (
    all.length === others.length ||
    (only !== undefined &&
      others.length === 1 &&
      isDocument(only) &&
      objectsIn(only.content).every(({ attachment }) => typeof object(attachment).data === 'string'))
  );
}

/**
 * Returns the resources in entries.
 * @param found is filled with the resources, by their URLs and by `Type/id`
 */
function collectResources(entries: readonly JsonObject[], found: Map<string, JsonObject>): JsonObject[] {
  return entries.flatMap(({ fullUrl, resource }): JsonObject[] => {
    const each = object(resource);
    if (typeof each.resourceType !== 'string') return [];
    if (typeof fullUrl === 'string') found.set(fullUrl, each);
    if (typeof each.id === 'string') found.set(`${each.resourceType}/${each.id}`, each);
    return [each];
  });
}

/**
 * Returns the rows of each section, and the number of resources in each section that can't be interpreted.
 * @param placeOf returns the section of a resource; undefined if it has none
 */
function groupSections(
  all: readonly JsonObject[],
  placeOf: (resource: JsonObject) => Kind | undefined,
  context: Context,
): Pick<ShownRecord, 'sections' | 'hidden'> {
  const sections = new Map<Kind, Row[]>(ORDER.map((kind) => [kind, []]));
  const known = new Map<KnownKind, JsonObject[]>(KNOWN.map((kind) => [kind, []]));
  const hidden = new Map<Kind, number>();
  for (const each of all) {
    if (UNSHOWN.includes(each.resourceType) || isWrong(each)) continue;
    const kind = placeOf(each);
    if (kind === undefined) continue;
    if (hasModifier(each) || hasModifier(findMedicine(each, context)))
      hidden.set(kind, (hidden.get(kind) ?? 0) + 1);
    else if (isKnown(kind)) known.get(kind)?.push(each);
    else
      sections.get(kind)?.push({ ...makeRow(each, kind, context), ...changesOfResult(each, kind, context) });
  }
  for (const rows of sections.values())
    rows.sort((a, b) => Number(a.isOver) - Number(b.isOver) || (a.at === b.at ? 0 : b.at - a.at));
  for (const kind of ['results', 'vitals'] as const)
    sections.set(kind, gravestFirst(sections.get(kind) ?? []));
  const around = makeAround(context);
  for (const [kind, resources] of known) sections.set(kind, [...knownRows(kind, resources, around)]);
  // The summary's narrative names these medicines, but the summary has no entries for them.
  const forbidden = context.told.filter((row) => row.forbidden !== undefined);
  const medications = sections.get('medications') ?? [];
  const isFirst = medications.findIndex(({ standing }) => standing === 'past');
  medications.splice(
    isFirst < 0 ? medications.length : isFirst,
    0,
    ...forbidden.map((row) => forbiddenRow(row, around)),
  );
  return { sections, hidden };
}

/** Returns how a later version changed a result's value. */
function changesOfResult(resource: JsonObject, kind: Kind, context: Context): Pick<Row, 'changes' | 'marks'> {
  const { resourceType: type } = resource;
  const key = `${string(type)}/${string(resource.id)}`;
  const { changes, replaced, today } = context;
  if (type !== 'Observation' || (!changes.has(key) && !replaced.has(key))) return {};
  const read = (value: JsonObject): string | undefined => {
    const { value: own = '', parts = [] } = observation(value, context);
    const text =
      own ||
      joined(
        parts.map((part) => part.value),
        ', ',
      );
    return text === '' ? undefined : text;
  };
  const revision = findValueRevision({ value: resource, replaced: replaced.get(key) }, read, today);
  // In this text, the page's own words must be kept.
  const revisions = revision === undefined ? [] : [{ ...revision, before: ownText(revision.before) }];
  return changesIn({ revisions }, [key], kind, { ...makeAround(context), makePhrase });
}

function ownText(before: Statement | undefined): { readonly text: string; readonly isOwn: true } {
  return { text: before !== undefined && 'text' in before ? before.text : '', isOwn: true };
}

/** Returns, in page order, the texts in a summary's narratives that show entries as they were before an AI changed them. */
function paragraphsBefore(composition: JsonObject | undefined): ToldBefore[] {
  const told = objectsIn(composition?.section).flatMap((section) =>
    earlierParagraphs(section).map((text): ToldBefore => ({ kind: kindOfSection(section) ?? 'other', text })),
  );
  return ORDER.flatMap((of) => told.filter(({ kind }) => kind === of));
}

/** Returns, in page order, rows for entries as they were before an AI changed them. The person's row comes first. */
function rowsBefore(entries: readonly JsonObject[], found: Found, context: Context): Row[] {
  const then = new Map(found);
  const all = collectResources(entries, then);
  const look: Look = (reference, within) => lookUp(then, reference, within);
  const none = { changes: new Map<string, string[]>(), replaced: new Map<string, Replaced[]>() };
  const { sections } = groupSections(all, findKind, { ...context, ...none, look });
  const people = all.filter(({ resourceType }) => resourceType === 'Patient').map(personRow);
  return [...people, ...ORDER.flatMap((kind) => sections.get(kind) ?? [])];
}

function personRow(patient: JsonObject): Row {
  const died = readDeath(patient);
  const day = string(patient.birthDate);
  return {
    ...EMPTY,
    kind: 'patient',
    name: string(shownName(patient.name)),
    says: [
      ...(day === '' ? [] : [{ key: 'known.on' as const, days: { day }, before: word('shl.born') }]),
      ...(died === undefined
        ? []
        : [
            died.date === undefined
              ? { key: 'record.dead' as const }
              : { key: 'record.died' as const, days: { day: died.date } },
          ]),
    ],
  };
}

/**
 * Sorts measurements by their newest result: critical results first, then other flagged results, then the rest, and finally
 * reports without content.
 */
function gravestFirst(rows: readonly Row[]): Row[] {
  const ranks = new Map<Row, number>();
  for (const { rows: all, latest, failed = latest } of groupRows(rows))
    for (const each of all) ranks.set(each, Math.min(rankRow(latest), rankRow(failed)));
  return [...rows].sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
}

function rankRow({ flag, isReport, details, files }: Row): number {
  if (flag !== '') return flag.startsWith('critical') ? 0 : 1;
  return isReport && details.every((text) => text === '') && files.length === 0 ? 3 : 2;
}

/** Returns the Medication that a resource refers to; an empty object if the resource contains no such reference. */
function findMedicine(resource: JsonObject, { look }: Context): JsonObject {
  const { medicationReference } = resource;
  return medicationReference === undefined ? {} : look(medicationReference, resource);
}

/** Returns the look-up functions for the clinical reading, and the function that makes text safe to show. */
function makeAround({ today, lang, look, died, told, changes, replaced }: Context): PageAround {
  const day = (date: string): string => dayInWords(lang, date);
  const name = (concept: Json | undefined): string | undefined => string(nameConcept(concept)) || undefined;
  return {
    ...{ today, lang, died, changes, replaced },
    codes: listCodes,
    told: new Map(told.flatMap((row) => row.keys.map((key) => [key, row]))),
    clean: string,
    name,
    look(reference, within) {
      const found = look({ reference: reference ?? '' }, within);
      return Object.keys(found).length === 0 ? undefined : found;
    },
    day,
    doses: (dosage) => string(dosesInWords(list(dosage), { lang, day })),
    doseNumber: ({ protocolApplied }) =>
      joined(
        objectsIn(protocolApplied)
          .map((each) => string(each.doseNumberPositiveInt) || string(each.doseNumberString))
          .filter((number) => number !== '')
          .map((number) => `${word('shl.dose')} ${number}`),
      ),
    reactions: ({ reaction }, allergy) =>
      joined(
        objectsIn(reaction).map((each) => {
          const { manifestation, severity } = each;
          const cause = reactionCause(each, name, allergy);
          const words = [joined(list(manifestation).map(conceptName)), codeWord(lang, 'severity', severity)];
          return joined([string(cause), joined(words, ' – ')], ': ');
        }),
        SEMICOLON,
      ),
  };
}

const isDocument = ({ resourceType }: JsonObject): boolean => resourceType === 'DocumentReference';

/** Returns the section of each resource that a summary lists in one of its sections. */
function placesIn(composition: JsonObject | undefined, found: Found): Map<JsonObject, Kind> {
  const placed = new Map<JsonObject, Kind>();
  for (const section of objectsIn(composition?.section)) {
    const kind = kindOfSection(section);
    for (const { reference } of objectsIn(section.entry)) {
      const resource = found.get(string(reference));
      if (resource !== undefined)
        placed.set(resource, isDocument(resource) ? 'documents' : (kind ?? findKind(resource)));
    }
  }
  return placed;
}

const kindOfSection = ({ code }: JsonObject): Kind | undefined =>
  listCodes(code)
    .map((each) => SECTIONS[each])
    .find((kind) => kind !== undefined);

/** Finds a reference's target: in the resource itself, or among the entries. */
function lookUp(found: Found, value: Json | undefined, within: JsonObject): JsonObject {
  const reference = string(object(value).reference);
  if (reference.startsWith('#'))
    return objectsIn(within.contained).find(({ id }) => `#${string(id)}` === reference) ?? {};
  const [relative = ''] = /[A-Za-z]+\/[^/]+$/.exec(reference) ?? [''];
  return object(found.get(reference) ?? found.get(relative));
}

/**
 * Statuses of entries that are false, haven't happened, or have no result yet. They come from R4's modifier elements, such as
 * `status`.
 */
const NOT_SO = [
  'entered-in-error',
  'refuted',
  'not-done',
  'not-taken',
  'cancelled',
  'draft',
  'registered',
  'preparation',
];

/**
 * Returns whether a resource must not be read as a fact: because of its status, because it is an order not to do something, or
 * because it is only an idea.
 */
function isWrong(resource: JsonObject): boolean {
  if (string(resource.resourceType).startsWith('Medication')) return withdrawnAs(resource) !== undefined;
  const { status, lifecycleStatus, docStatus, verificationStatus, doNotPerform, intent } = resource;
  const codes = [
    string(status),
    string(lifecycleStatus),
    string(docStatus),
    ...listCodes(verificationStatus),
  ];
  const isIdea = intent === 'proposal' || intent === 'option';
  return doNotPerform === true || isIdea || codes.some((code) => NOT_SO.includes(code));
}

function findKind(resource: JsonObject): Kind {
  const resourceType = string(resource.resourceType);
  if (resourceType === 'Condition') {
    const status = listCodes(resource.clinicalStatus);
    return status.some((code) => ['inactive', 'remission', 'resolved'].includes(code)) ? 'past' : 'problems';
  }
  if (resourceType === 'Observation') {
    const categories = list(resource.category).flatMap(listCodes);
    if (categories.includes('vital-signs')) return 'vitals';
    return categories.includes('social-history') ? 'social' : 'results';
  }
  return BY_TYPE[resourceType] ?? 'other';
}

/** @param isWhole whether to show the person's identifiers and contact details, which aren't part of a summary */
function readPatient(patient: JsonObject, lang: WordLanguage, isWhole: boolean): ShownPatient {
  const { name, birthDate, gender } = patient;
  const { identifier, telecom, address }: JsonObject = isWhole ? patient : {};
  return {
    name: string(shownName(name)),
    birthDate: string(birthDate),
    gender: findCodeWord(lang, 'gender', string(gender)) ?? '',
    died: readDeath(patient),
    identifiers: objectsIn(identifier)
      .map(({ type, value }) => joined([conceptName(type), string(value)], ' '))
      .filter((text) => text !== '')
      .slice(0, 4),
    phone: string(objectsIn(telecom).find(({ system }) => system === 'phone')?.value),
    address: addressText(objectsIn(address).find(({ use }) => string(use) !== 'old') ?? {}),
  };
}

/**
 * Returns an address on one line. The parts are in the order used in the country if the record provides that order (`text`).
 */
function addressText({ text, line, postalCode, city, state, country }: JsonObject): string {
  const town = joined([string(postalCode), string(city)], ' ');
  return string(text) || joined([...list(line).map(string), town, string(state), string(country)]);
}

/** Returns a row in a section: name, details, date, value with range and flag, documents. */
function makeRow(resource: JsonObject, kind: Kind, context: Context): Row {
  const type = string(resource.resourceType);
  const read = (Object.hasOwn(READERS, type) ? READERS[type] : undefined) ?? readOther;
  return { ...EMPTY, kind, ...readDate(resource), ...read(resource, context) };
}

/** The members that a resource adds to an empty row. */
type Read = Partial<Row> & Pick<Row, 'name'>;

/** Returns when something happened or began, the meaning of the date if it differs, and a number to sort by. */
function readDate(resource: JsonObject): Pick<Row, 'date' | 'at' | 'means'> {
  const { date, at, means } = happened({ type: string(resource.resourceType), value: resource });
  const other = string(resource.timingDateTime) || string(resource.date);
  if (date === null && other !== '') return { date: other, at: Date.parse(other) || 0, means: '' };
  return { date: string(date), at, means: means === 'recorded' || means === 'reported' ? means : '' };
}

const READERS: Readonly<Record<string, (resource: JsonObject, context: Context) => Read>> = {
  Observation: observation,
  DiagnosticReport: (resource, { lang }) => ({
    name: conceptName(resource.code),
    details: [
      string(resource.conclusion),
      joined(list(resource.conclusionCode).map(conceptName)),
      readStatus(resource, lang),
    ],
    isReport: true,
    files: list(resource.presentedForm).map(readFile),
  }),
  Procedure(resource, { lang }) {
    const age = ageIn(resource, 'performed');
    const complication = joined(list(resource.complication).map(conceptName), ', ');
    return {
      name: conceptName(resource.code),
      details: [
        joined(list(resource.bodySite).map(conceptName)),
        string(resource.performedString),
        conceptName(resource.outcome),
        readStatus(resource, lang),
      ],
      says: [
        ...(complication === ''
          ? []
          : [{ key: 'known.complication' as const, values: { text: complication } }]),
        ...(age === undefined
          ? []
          : [{ key: 'known.performedage' as const, values: { age: string(ageText(lang, age)) } }]),
      ],
    };
  },
  Device: readDevice,
  DeviceUseStatement: (resource, { look }) => readDevice(look(resource.device, resource)),
  DocumentReference: (resource, { lang }) => ({
    name:
      string(resource.description) ||
      string(object(objectsIn(resource.content)[0]?.attachment).title) ||
      codedWord(lang, 'documentType', resource.type),
    details: [codedWord(lang, 'documentType', resource.type), readStatus(resource, lang)],
    files: objectsIn(resource.content).map(({ attachment }) => readFile(attachment)),
  }),
  CarePlan: (resource, { lang, died }) => ({
    name: string(resource.title) || joined(list(resource.category).map(conceptName)),
    details: [
      string(resource.description),
      died === undefined ? readStatus(resource, lang) : '',
      readActivities(resource, lang),
    ],
    ...readPeriod(resource.period, died === undefined ? [] : [beforeDeath(resource, lang)]),
  }),
  Goal: (resource, { lang }) => ({
    name: conceptName(resource.description),
    details: [readStatus(resource, lang)],
  }),
  Encounter(resource, { lang }) {
    const { code, display } = object(resource.class);
    const kind = findCodeWord(lang, 'encounterClass', string(code)) ?? (string(display) || string(code));
    const types = joined(list(resource.type).map(conceptName));
    return {
      name: types || capital(lang, kind),
      details: [
        types === '' ? '' : kind,
        joined(list(resource.reasonCode).map(conceptName)),
        readStatus(resource, lang),
      ],
    };
  },
};

function readDevice({ type, deviceName, manufacturer }: JsonObject): Read {
  return {
    name: conceptName(type) || string(objectsIn(deviceName)[0]?.name),
    details: [string(manufacturer)],
  };
}

/** Returns the activities in a care plan, each with its status. */
function readActivities({ activity }: JsonObject, lang: WordLanguage): string {
  const activities = objectsIn(activity)
    .map(({ detail, reference }) => {
      const { code, description, status } = object(detail);
      const name = conceptName(code) || string(description) || string(object(reference).display);
      return joined([name, codeWord(lang, 'planStatus', status)]);
    })
    .filter((text) => text !== '');
  return activities.length === 0 ? '' : `${word('shl.activities')}: ${joined(activities, SEMICOLON)}`;
}

/**
 * Returns the start and end of a period, each with its meaning, so that the start of a plan isn't mistaken for the day on
 * which it was completed.
 */
function readPeriod(
  period: Json | undefined,
  first: readonly PagePhrase[],
): Partial<Pick<Row, 'date' | 'says'>> {
  const { start, end } = object(period);
  const dated = (
    [
      ['known.since', string(start)],
      ['days.until', string(end)],
    ] as const
  ).flatMap(([key, day]) => (day === '' ? [] : [{ key, days: { day } }]));
  const says = [...first, ...dated];
  return says.length === 0 ? {} : { date: '', says };
}

/** Returns the phrase saying that a plan had its status before the person died. */
function beforeDeath({ status }: JsonObject, lang: WordLanguage): PagePhrase {
  return { key: 'known.ofdeceased', state: codeWord(lang, 'planStatus', status) };
}

function readOther(resource: JsonObject): Read {
  const { resourceType, code, type, title, description } = resource;
  return {
    name:
      conceptName(code) || conceptName(type) || string(title) || string(description) || string(resourceType),
  };
}

/** Usual statuses, which aren't worth showing. */
const USUAL = ['active', 'confirmed', 'final', 'amended', 'corrected', 'appended', 'finished', 'current'];

/** Returns an entry's status. Usual statuses are left out, except for plans and goals. */
function readStatus(resource: JsonObject, lang: WordLanguage): string {
  const { clinicalStatus, verificationStatus, achievementStatus, docStatus } = resource;
  const { status, lifecycleStatus } = resource;
  const resourceType = string(resource.resourceType);
  const state = (element: string, code: string): string => {
    const set = findCodeSet(resourceType, element);
    const isPlan = resourceType === 'CarePlan' || resourceType === 'Goal';
    const isUsual = !isPlan && (USUAL.includes(code) || code === 'completed');
    return set === undefined || isUsual ? '' : codeWord(lang, set, code);
  };
  return joined([
    ...listCodes(clinicalStatus).map((code) => state('clinicalStatus', code)),
    ...listCodes(verificationStatus).map((code) => state('verificationStatus', code)),
    state('status', string(status)),
    state('docStatus', string(docStatus)),
    state('lifecycleStatus', string(lifecycleStatus)),
    codedWord(lang, 'achievement', achievementStatus),
    readReason(resource),
  ]);
}

/** Returns the reason for an entry's status. */
function readReason({ statusReason }: JsonObject): string {
  const concepts = Array.isArray(statusReason) ? statusReason : [statusReason];
  const text = string(statusReason) || joined(concepts.map(conceptName));
  return text === '' ? '' : phraseMark({ key: 'known.statusreason', values: { text } });
}

function textOfValue(holder: JsonObject, lang: WordLanguage): string {
  const quantity = string(quantityText(holder.valueQuantity, readMeasured(holder), { lang }));
  if (quantity !== '') return quantity;
  if (typeof holder.valueBoolean === 'boolean') return holder.valueBoolean ? word('shl.yes') : word('shl.no');
  return (
    conceptName(holder.valueCodeableConcept) ||
    string(holder.valueString) ||
    string(holder.valueInteger) ||
    string(holder.valueDateTime) ||
    string(holder.valueTime) ||
    string(rangeText(holder.valueRange, { lang })) ||
    string(ratioText(holder.valueRatio, { lang }))
  );
}

/**
 * Returns the reference range, without its unit if it is that of the value next to it. If none of several ranges is the normal
 * one, returns all of them, each with what it means and whom it applies to.
 */
function readRange({ referenceRange, valueQuantity }: JsonObject, lang: WordLanguage): string {
  const normal = normalRange(referenceRange);
  const unit = unitOfQuantity(valueQuantity);
  const bare = (end: Json | undefined): unknown =>
    unitOfQuantity(end) === unit ? { value: object(end).value } : end;
  return joined(
    (normal === undefined ? objectsIn(referenceRange) : [normal]).map((each) => {
      const { low, high, text, type, appliesTo, age } = each;
      const said = string(rangeText({ low: bare(low), high: bare(high) }, { lang })) || string(text);
      const years = readAge(object(age));
      const whose = joined([
        listCodes(type).includes('normal') ? '' : conceptName(type),
        ...list(appliesTo).map(conceptName),
        years === undefined ? '' : ageText(lang, years),
      ]);
      return whose === '' || said === '' ? said : `${said} (${whose})`;
    }),
    SEMICOLON,
  );
}

/**
 * The flags for interpretations (http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation). Other codes have no
 * flag, such as detected, positive, resistant, and codes that only say how a value changed.
 */
const FLAGS: Readonly<Record<string, Exclude<Flag, ''>>> = {
  H: 'high',
  HH: 'critical-high',
  HU: 'high',
  L: 'low',
  LL: 'critical-low',
  LU: 'low',
  HX: 'high',
  LX: 'low',
  AA: 'critical-abnormal',
  A: 'abnormal',
};

/** For each flag, the interpretation code with the same meaning. */
const CODE_OF: Readonly<Record<Exclude<Flag, '' | 'critical'>, string>> = {
  high: 'H',
  low: 'L',
  abnormal: 'A',
  'critical-high': 'HH',
  'critical-low': 'LL',
  'critical-abnormal': 'AA',
};

/** Returns the other interpretations of a value: whether something was found, or how the value changed. */
function otherJudgements({ interpretation }: JsonObject, lang: WordLanguage): string[] {
  return list(interpretation)
    .filter((each) => listCodes(each).every((code) => FLAGS[code] === undefined && code !== 'N'))
    .map((each) => codedWord(lang, 'interpretation', each));
}

/**
 * Returns `high`, `low` or `abnormal`, possibly prefixed with `critical-`, or an empty string. The laboratory's own flag is
 * used if there is one, otherwise the reference range.
 */
function readFlag(holder: JsonObject): Flag {
  const codes = list(holder.interpretation).flatMap(listCodes);
  const said = codes.flatMap((code) => FLAGS[code] ?? []);
  const worst = said.find((flag) => flag.startsWith('critical')) ?? said.find((flag) => flag !== 'abnormal');
  if (said.length > 0) return worst ?? 'abnormal';
  return placeOutside(holder) ?? '';
}

const LOINC = 'http://loinc.org';

/** Returns a measurement's code: the LOINC code if it has one, otherwise its first code. */
function codeOfResult(concept: Json | undefined): {
  readonly system: string | null;
  readonly code: string | null;
} {
  const coded = objectsIn(object(concept).coding).filter(({ code }) => typeof code === 'string');
  const { system, code }: JsonObject = coded.find((coding) => coding.system === LOINC) ?? coded[0] ?? {};
  return { system: string(system) || null, code: string(code) || null };
}

/** Returns a measurement's name, as on patients' pages. */
function nameOfResult(concept: Json | undefined): string {
  const { system, code } = codeOfResult(concept);
  const display = conceptName(concept);
  return code === null ? display : resultName(word, { system, code, display: display || null });
}

/** Returns the key shared by measurements of the same kind. */
function keyOfResult(concept: Json | undefined): string {
  const { system, code } = codeOfResult(concept);
  if (code === null) return conceptName(concept);
  return system === null ? code : `${system}|${code}`;
}

function observation(resource: JsonObject, { lang }: Pick<Context, 'lang'>): Read {
  const components = systolicFirst(objectsIn(resource.component), ({ code }) =>
    findPressure(listCodes(code)),
  );
  const own = textOfValue(resource, lang);
  const hasValue = components.some((component) => textOfValue(component, lang) !== '');
  const parts = (hasValue ? components : [])
    .map(
      (component): Part => ({
        name: nameOfResult(component.code),
        value: textOfValue(component, lang) || codedWord(lang, 'absent', component.dataAbsentReason),
      }),
    )
    .filter(({ value }) => value !== '');
  const value = own || string(pressureText(components, { lang }));
  const flags = [resource, ...components].map(readFlag);
  const flag: Flag =
    flags.find((each) => each.startsWith('critical')) ?? flags.find((each) => each !== '') ?? '';
  return {
    name: nameOfResult(resource.code),
    key: keyOfResult(resource.code),
    value,
    parts: value === '' ? parts : [],
    isEmpty: value === '' && parts.length === 0,
    isJudged: list(resource.interpretation).length > 0,
    range: readRange(resource, lang),
    flag,
    flagged:
      flag === '' || flag === 'critical'
        ? ''
        : capital(lang, codeWord(lang, 'interpretation', CODE_OF[flag])),
    details: [
      own === '' && components.length === 0 ? codedWord(lang, 'absent', resource.dataAbsentReason) : '',
      joined(otherJudgements(resource, lang)),
      joined(objectsIn(resource.note).map(({ text }) => string(text))),
      readStatus(resource, lang),
    ],
  };
}

function readFile(value: Json | undefined): ShownFile {
  const { contentType, data, title } = object(value);
  return {
    contentType: string(contentType),
    data: typeof data === 'string' ? data : '',
    title: string(title),
  };
}
