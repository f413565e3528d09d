/** Defines the rows and columns of each section's table. */

import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { mapSteps, type Steps } from '#src/shared/load/slices.ts';
import { first, loincCodes, objects, text } from '../../fhir/parts.ts';
import {
  type Absence,
  activeAllergies,
  activeProblems,
  contradictAbsences,
  type Denial,
  givenVaccines,
  splitAbsences,
  takenMedicines,
} from '../reading/absence.ts';
import { mostDangerousFirst, reactionSubstances, readAllergy } from '../reading/allergies.ts';
import {
  absenceText,
  doseChangeText,
  inCell,
  inEnglish,
  problemState,
  recordedAs,
  refutedText,
  revisionText,
  standingText,
} from '../reading/english.ts';
import { readMedicineSubject } from '../reading/medicine-subject.ts';
import {
  currentFirst,
  groupMedicines,
  joinMedicine,
  type Medicine,
  readMedicineSource,
  reasonsIn,
} from '../reading/medicines.ts';
import { findCodeSet } from '../reading/names/code-words.ts';
import { nameConcept } from '../reading/names/name.ts';
import { nameCoded, nameCodes } from '../reading/names/name-code.ts';
import type { Death } from '../reading/person.ts';
import {
  changePhrases,
  dosePhrases,
  problemPhrases,
  repeatPhrases,
  substitutionPhrases,
} from '../reading/phrases.ts';
import { findPressure, systolicFirst } from '../reading/pressure.ts';
import {
  activeFirst,
  groupProblems,
  joinProblem,
  type Problem,
  readProblemSource,
} from '../reading/problems.ts';
import { findRevisions, findValueRevision, type Revision } from '../reading/revisions.ts';
import type { Around } from '../reading/told.ts';
import { readVaccination, subpotentText } from '../reading/vaccinations.ts';
import {
  choice,
  day,
  dosage,
  joined,
  moment,
  notes,
  period,
  quantity,
  referenceRange,
} from '../reading/words.ts';
import { FORBIDDEN, rowId } from './not-listed.ts';
import type { SectionName } from './section.ts';
import type { Source } from './source.ts';

/** Returns a resource by `Type/id` if the summary may show it. */
export type Look = (key: string) => Source | undefined;

/** A column: its heading and its content. Empty columns aren't shown. */
export type Column<Row = Source> = readonly [
  heading: string,
  cell: (row: Row, look: Look) => string | undefined,
];

/** The inputs of a table, other than its sources. */
export interface Beside extends Around {
  readonly find: Look;
  readonly died: Death | undefined;
}

/** A table's cells, column by column. */
export interface TableCells {
  readonly columns: readonly (readonly [heading: string, cells: readonly string[]])[];
  /** The id of each row (`rowId`); undefined for a row without an id. */
  readonly ids: readonly (string | undefined)[];
  /** The number of past medicines that have no row. */
  readonly left: number;
  /** Statements of absence, which are shown as sentences rather than rows. */
  readonly absent: readonly string[];
  /** Refuted entries, which are shown as sentences rather than rows. */
  readonly refuted: readonly string[];
}

/**
 * Returns a table's cells, in steps.
 * @param others resources that aren't entries but are needed for the rows of medicines
 */
type Table = (sources: readonly Source[], beside: Beside, others?: readonly Source[]) => Steps<TableCells>;

/** A table's rows. */
interface Rows<Row> extends Partial<Omit<TableCells, 'columns'>> {
  readonly rows: readonly Row[];
}

/**
 * Returns a function that builds a table.
 * @param makeRows creates the rows for the section's sources
 */
function makeTable<Row>(
  columns: readonly Column<Row>[],
  makeRows: (sources: readonly Source[], beside: Beside, others: readonly Source[]) => Steps<Rows<Row>>,
): Table {
  return function* cells(sources, beside, others = []) {
    const { rows, ids = [], left = 0, absent = [], refuted = [] } = yield* makeRows(sources, beside, others);
    const table: (readonly [string, readonly string[]])[] = [];
    for (const [heading, cell] of columns)
      table.push([heading, yield* mapSteps(rows, (row) => cell(row, beside.find) ?? '')]);
    return { columns: table, ids, left, absent, refuted };
  };
}

/** Returns a table with one row per source. */
function plain(columns: readonly Column[]): Table {
  // biome-ignore lint/correctness/useYield: rows are made at once
  return makeTable(columns, function* same(rows) {
    return { rows };
  });
}

/** Returns a column whose cells depend only on the resource itself. */
const of = (heading: string, cell: (value: JsonObject) => string | undefined): Column => [
  heading,
  ({ value }) => cell(value),
];

/** The status, and the reason for it. */
const STATUS: Column = [
  'Status',
  ({ type, value }) =>
    joined([stateIn(type, value), prefixed('reason:', nameConcept(value.statusReason))], '; '),
];
const NOTES = of('Notes', ({ note }) => notes(note));

/** Clinical and verification status. */
const STATUSES = of('Status', ({ clinicalStatus, verificationStatus }) =>
  joined([
    nameCoded('en', clinicalStatus, 'clinicalStatus'),
    nameCoded('en', verificationStatus, 'verificationStatus'),
  ]),
);

/** Returns a resource's state in words. */
function stateIn(type: string, { status }: JsonObject): string | undefined {
  const set = findCodeSet(type, 'status');
  return set === undefined ? text(status) : nameCodes('en', set, status);
}

/** Returns a value's interpretation in words. */
function judged({ interpretation }: JsonObject): string | undefined {
  return nameCoded('en', interpretation, 'interpretation');
}

/** Returns why a value is missing, in words. */
function missing({ dataAbsentReason }: JsonObject): string | undefined {
  return nameCoded('en', dataAbsentReason, 'absent');
}

const BEGAN = of('Since', (value) => changePhrases(value, 'onset').map(inCell)[0] ?? recorded(value));

function recorded({ recordedDate }: JsonObject): string | undefined {
  const date = day(recordedDate);
  return date === undefined ? undefined : `recorded ${date}`;
}

function* problems(sources: readonly Source[], beside: Beside): Steps<Rows<Problem<Source>>> {
  const { others, absences } = splitAbsences(sources, beside);
  const read = yield* mapSteps(others, (source) => readProblemSource(source, beside));
  const all = yield* mapSteps(groupProblems(read), joinProblem);
  const rows = all.sort(activeFirst);
  const ids = rows.map((row) =>
    row.revisions.length === 0 ? undefined : rowId(row.sources.map(({ told }) => told.key)),
  );
  return { rows, ids, absent: absentIn(absences, activeProblems(all)) };
}

function absentIn(absences: readonly Absence<Source>[], current: readonly Denial[]): string[] {
  return contradictAbsences(absences, current)
    .map(absenceText)
    .map((said) => said.charAt(0).toUpperCase() + said.slice(1));
}

const leadValue = ({ sources: [lead], oldest }: Problem<Source>): JsonObject => (lead ?? oldest).told.value;

/** Returns a column that shows data from a problem's newest source. */
const ofLead = (
  heading: string,
  cell: (value: JsonObject) => string | undefined,
): Column<Problem<Source>> => [heading, (problem) => cell(leadValue(problem))];

const PROBLEM: readonly Column<Problem<Source>>[] = [
  ['Problem', (problem) => joined([problem.name, problem.site])],
  [
    'Status',
    (problem) => joined([problemState(problem), nameCodes('en', 'verificationStatus', problem.uncertainty)]),
  ],
  ofLead('Severity', ({ severity }) => nameCoded('en', severity, 'severity')),
  [
    'Since',
    (problem) =>
      problemPhrases(problem)
        .filter(({ says }) => says !== 'until' && !says.startsWith('end'))
        .map(inCell)[0],
  ],
];
const RECORDED: Column<Problem<Source>> = [
  'Recorded',
  (problem) => repeatPhrases(problem).map((phrase) => inEnglish(phrase).replace(/^recorded /, ''))[0],
];
/** The changes made by later versions. */
const CHANGED: Column<{ readonly revisions: readonly Revision[] }> = [
  'Changed',
  ({ revisions }) => joined([...new Set(revisions.map(revisionText))], '; '),
];
const REMARKS: Column<Problem<Source>> = ofLead('Notes', ({ note }) => notes(note));

const PROBLEMS = makeTable<Problem<Source>>([...PROBLEM, RECORDED, CHANGED, REMARKS], problems);

const FINDINGS: readonly Column[] = [
  ['Finding', ({ value }) => nameConcept(value.code)],
  ['Value', ({ type, value }, look) => (type === 'DiagnosticReport' ? reported(value, look) : found(value))],
  of('Interpretation', judged),
  of('Reference range', (value) => referenceRange(value.referenceRange)),
  of('Date', (value) => choice(value, 'effective') ?? prefixed('reported', moment(value.issued))),
  STATUS,
  ['Changed', (source) => [findingRevision(source)].map((each) => each && revisionText(each))[0]],
  NOTES,
];

/** Returns the change that a later version made to an Observation's value. */
function findingRevision(source: Source): Revision | undefined {
  return source.replaced === undefined || source.type !== 'Observation'
    ? undefined
    : findValueRevision(source, found);
}

const RESULTS = makeTable(FINDINGS, function* results(rows) {
  // Readers of narratives need the ids to find changes.
  return {
    rows,
    ids: rows.map((row) => (findingRevision(row) === undefined ? undefined : rowId([row.key]))),
  };
});

/** Returns the values of an Observation and its components, or the reason why there are none. */
function found(value: JsonObject): string | undefined {
  const own = choice(value, 'value') ?? missing(value);
  const ordered = systolicFirst(objects(value.component), ({ code }) => findPressure(loincCodes(code)));
  const components = ordered.map((component) => {
    const range = referenceRange(component.referenceRange);
    const shown = joined([choice(component, 'value') ?? missing(component), judged(component)]);
    return `${nameConcept(component.code) ?? ''}: ${shown ?? 'not known'}${range === undefined ? '' : ` (${range})`}`;
  });
  const members = objects(value.hasMember).length;
  return joined([own, ...components], '; ') ?? (members > 0 ? 'see the results of this panel' : undefined);
}

/** Returns a report's conclusion; if there is none, the report's results. */
function reported({ conclusion, conclusionCode, result }: JsonObject, look: Look): string | undefined {
  const said = joined([text(conclusion), nameConcept(conclusionCode)], '; ');
  if (said !== undefined) return said;
  return joined(
    objects(result).map(
      (each) => nameConcept(look(text(each.reference) ?? '')?.value.code) ?? text(each.display),
    ),
  );
}

/** Returns the reason for something that was done. */
function reason({ value }: Source, look: Look): string | undefined {
  return joined(reasonsIn(value, (reference) => look(text(reference) ?? '')?.value, nameConcept));
}

/** A medicine, and whether the patient has died. */
interface Row extends Medicine<Source> {
  readonly died: Death | undefined;
}

/**
 * Returns the medicines that entries state, including the period of past prescriptions, and the medicines that must not be
 * given.
 */
function* medicines(sources: readonly Source[], beside: Beside, others: readonly Source[]): Steps<Rows<Row>> {
  const { died } = beside;
  const own: ReadonlySet<Source> = new Set(sources);
  const split = splitAbsences([...sources, ...others], beside);
  const subjects = yield* mapSteps(split.others, (source) => readMedicineSubject(source, beside));
  const groups = groupMedicines(subjects);
  // Records usually contain many past medicines. For these, only the members that identify the medicine have been read.
  const shown = groups.filter((group) => group.some(({ told, isForbidden }) => own.has(told) || isForbidden));
  const all = yield* mapSteps(shown, (group) =>
    joinMedicine(group.map((subject) => readMedicineSource(subject.told, beside, subject))),
  );
  const rows = all.sort(currentFirst).map((medicine) => ({ ...medicine, died }));
  // A resource that isn't an entry can cause entries to be joined or kept apart. Readers of narratives need the ids to find
  // changes.
  const ids = rows.map((row) => (others.length > 0 || isChanged(row) ? rowIdIn(row, own) : undefined));
  const absent = absentIn(split.absences, takenMedicines(all));
  return { rows, ids, left: groups.length - shown.length, absent };
}

function isChanged({ revisions, doseChange }: Row): boolean {
  return revisions.length > 0 || doseChange !== undefined;
}

/** Returns a row's id, derived from the entries that its medicine is based on. */
function rowIdIn({ sources }: Row, own: ReadonlySet<Source>): string | undefined {
  const keys = sources.flatMap(({ told }) => (own.has(told) ? [told.key] : []));
  return keys.length === 0 ? undefined : rowId(keys);
}

/**
 * Returns how a medicine is taken: each dosage, with its source's name if that is different, and with what distinguishes the
 * dosage from the others.
 */
function writeDoses(row: Row): string | undefined {
  const { name, doses } = row;
  return joined(
    doses.map((dose) => {
      const isNamed = dose.name === undefined || dose.name.toLowerCase() === name?.toLowerCase();
      const apart = joined(dosePhrases(dose, row).map(inEnglish));
      const said = joined([dosage(dose.dosage), apart && `(${apart})`], ' ');
      return joined([isNamed ? undefined : dose.name, said], ': ');
    }),
    ' | ',
  );
}

/** Returns the notes of the sources that determine a medicine's standing, without duplicates. */
function joinNotes({ sources, standing }: Row): string | undefined {
  const own = sources.filter((source) => source.standing === standing);
  return joined([...new Set(own.map(({ told }) => notes(told.value.note)))], ' ');
}

const MEDICINES = makeTable<Row>(
  [
    [
      'Medication',
      ({ name, standing }) =>
        standing === 'forbidden' ? `${FORBIDDEN}${name ?? 'medication without a name'}` : name,
    ],
    ['Dosage', writeDoses],
    ['Status', (medicine) => standingText(medicine, medicine.died)],
    [
      'Changed',
      (medicine) =>
        joined([...new Set([...medicine.revisions.map(revisionText), doseChangeText(medicine)])], '; '),
    ],
    ['Substitution', (medicine) => joined(substitutionPhrases(medicine).map(inEnglish), '; ')],
    ['Reason', ({ reasons, standing }) => (standing === 'forbidden' ? undefined : joined(reasons))],
    ['Notes', joinNotes],
  ],
  medicines,
);

const ALLERGIES: readonly Column[] = [
  of('Substance', (value) => nameConcept(value.code) ?? reactionSubstances(value, nameConcept)),
  of('Kind', ({ type, category }) =>
    joined([nameCodes('en', 'allergyType', type), nameCodes('en', 'allergyCategory', category)]),
  ),
  of('Criticality', ({ criticality }) => nameCodes('en', 'criticality', criticality)),
  of('Reaction', ({ reaction }) =>
    joined(
      objects(reaction).map((each) =>
        joined([
          nameConcept(each.substance),
          nameConcept(each.manifestation),
          nameCodes('en', 'severity', each.severity),
        ]),
      ),
      '; ',
    ),
  ),
  STATUSES,
  // In the table of allergies, a row is an entry, so it needs no id.
  ['Changed', (source) => joined(allergyRevisions(source).map(revisionText), '; ')],
  BEGAN,
  of('Last reaction', ({ lastOccurrence }) => day(lastOccurrence)),
  NOTES,
];

function allergyRevisions(told: Source): Revision[] {
  return findRevisions(told, { today: '', look: () => undefined, name: nameConcept });
}

function* allergies(
  sources: readonly Source[],
  beside: Beside,
  refused: readonly Source[],
): Steps<Rows<Source>> {
  const { others, absences } = splitAbsences(sources, beside);
  const read = yield* mapSteps(others, (source) => readAllergy(source, beside));
  const sorted = read.sort(mostDangerousFirst);
  const rows = sorted.map(({ told }) => told);
  const ids = sorted.map(({ told, revisions }) => (revisions.length === 0 ? undefined : rowId([told.key])));
  const refuted = refused.map((each) => refutedText(nameConcept(each.value.code) ?? 'not named', each));
  return { rows, ids, absent: absentIn(absences, activeAllergies(read)), refuted };
}

function* vaccinations(sources: readonly Source[], beside: Beside): Steps<Rows<Source>> {
  const { others, absences } = splitAbsences(sources, beside);
  if (absences.length === 0) return { rows: others };
  const doses = yield* mapSteps(others, (source) => readVaccination(source, beside));
  return { rows: others, absent: absentIn(absences, givenVaccines(doses)) };
}

/** Returns a Device's name, type and identifiers. */
function device(value: JsonObject | undefined): string | undefined {
  if (value === undefined) return undefined;
  const named = objects(value.deviceName).map(({ name }) => text(name));
  return joined([nameConcept(value.type), ...named, text(value.manufacturer), text(value.modelNumber)]);
}

const identification = (value: JsonObject | undefined): string | undefined =>
  value === undefined
    ? undefined
    : joined([
        ...objects(value.udiCarrier).map(({ deviceIdentifier }) => prefixed('UDI', deviceIdentifier)),
        prefixed('serial', value.serialNumber),
        prefixed('lot', value.lotNumber),
      ]);

function prefixed(what: string, value: Json | undefined): string | undefined {
  const shown = text(value);
  return shown === undefined ? undefined : `${what} ${shown}`;
}

const usedDevice = ({ value }: Source, look: Look): JsonObject | undefined =>
  look(text(first(value.device)?.reference) ?? '')?.value;

/** A care plan, and whether the person has died. */
interface PlanRow extends Source {
  readonly isOfDeceased: boolean;
}

function* carePlans(sources: readonly Source[], { died }: Beside): Steps<Rows<PlanRow>> {
  return { rows: sources.map((source) => ({ ...source, isOfDeceased: died !== undefined })) };
}

export const TABLES: Readonly<Record<SectionName, Table>> = {
  problems: PROBLEMS,
  functionalStatus: PROBLEMS,
  pastProblems: makeTable(
    [
      ...PROBLEM,
      ofLead('Until', (value) => changePhrases(value, 'abatement').map(inCell)[0]),
      RECORDED,
      REMARKS,
    ],
    problems,
  ),
  allergies: makeTable(ALLERGIES, allergies),
  medications: MEDICINES,
  immunizations: makeTable(
    [
      of('Vaccine', ({ vaccineCode }) => nameConcept(vaccineCode)),
      of('Date', (value) => choice(value, 'occurrence', day)),
      of('Dose', (value) =>
        joined([
          ...objects(value.protocolApplied).map((protocol) => choice(protocol, 'doseNumber')),
          quantity(value.doseQuantity),
          subpotentText(value, 'en'),
        ]),
      ),
      of('Against', ({ protocolApplied }) =>
        joined(objects(protocolApplied).map(({ targetDisease }) => nameConcept(targetDisease))),
      ),
      of('Lot', ({ lotNumber }) => text(lotNumber)),
      STATUS,
      NOTES,
    ],
    vaccinations,
  ),
  results: RESULTS,
  vitalSigns: RESULTS,
  pregnancy: RESULTS,
  socialHistory: RESULTS,
  procedures: plain([
    of('Procedure', ({ code }) => nameConcept(code)),
    of('Body site', ({ bodySite }) => nameConcept(bodySite)),
    of('Date', (value) => choice(value, 'performed', day)),
    ['Reason', reason],
    of('Outcome', ({ outcome, complication }) =>
      joined([nameConcept(outcome), prefixed('complication:', nameConcept(complication))], '; '),
    ),
    STATUS,
    NOTES,
  ]),
  devices: plain([
    ['Device', (source, look) => device(usedDevice(source, look))],
    ['Identification', (source, look) => identification(usedDevice(source, look))],
    STATUS,
    ['Notes', (source, look) => notes(usedDevice(source, look)?.note)],
  ]),
  advanceDirectives: plain([
    of('Document', ({ type, description }) =>
      joined([nameCoded('en', type, 'documentType'), text(description)]),
    ),
    of('Date', ({ date }) => day(date)),
    STATUS,
  ]),
  planOfCare: makeTable<PlanRow>(
    [
      of('Plan', ({ title, category, description }) =>
        joined([text(title), nameConcept(category), text(description)]),
      ),
      of('Activities', ({ activity }) =>
        joined(
          objects(activity).map(({ detail, reference }) => {
            const { code, description, status } = first(detail) ?? {};
            return joined(
              [
                nameConcept(code),
                text(description),
                nameCodes('en', 'planStatus', status),
                text(first(reference)?.display),
              ],
              ' ',
            );
          }),
          '; ',
        ),
      ),
      of('Period', (value) => period(value.period, day)),
      [
        'Status',
        ({ value: { status, intent }, isOfDeceased }) => {
          const state = nameCodes('en', 'planStatus', status);
          const said = isOfDeceased && state !== undefined ? recordedAs(state) : state;
          return joined([said, nameCodes('en', 'intent', intent)]);
        },
      ],
      NOTES,
    ],
    carePlans,
  ),
};
