/** Defines the columns of each section's table. */
import type { Json, JsonObject } from '#src/shared/json.ts';
import { codes, first, objects, text } from '../../fhir/parts.ts';
import {
  choice,
  concept,
  dosage,
  joined,
  moment,
  notes,
  period,
  quantity,
  referenceRange,
} from '../reading/words.ts';
import type { SectionName } from './section.ts';
import type { Source } from './source.ts';

/** Returns a resource by `Type/id` if the summary may show it. */
export type Look = (key: string) => Source | undefined;

/** A column: its heading and its content. Empty columns aren't shown. */
export type Column = readonly [heading: string, cell: (source: Source, look: Look) => string | undefined];

/** Returns a column that needs only the resource itself. */
const of = (heading: string, cell: (value: JsonObject) => string | undefined): Column => [
  heading,
  ({ value }) => cell(value),
];

const STATUS = of('Status', ({ status }) => text(status));
const NOTES = of('Notes', ({ note }) => notes(note));

/** Clinical and verification status. */
const STATUSES = of('Status', ({ clinicalStatus, verificationStatus }) =>
  joined([...codes(clinicalStatus), ...codes(verificationStatus)]),
);

const PROBLEM = of('Problem', ({ code, bodySite }) => joined([concept(code), concept(bodySite)]));
const SEVERITY = of('Severity', ({ severity }) => concept(severity));
const BEGAN = of('Since', (value) => choice(value, 'onset') ?? recorded(value));

function recorded({ recordedDate }: JsonObject): string | undefined {
  const date = moment(recordedDate);
  return date === undefined ? undefined : `recorded ${date}`;
}

const PROBLEMS: readonly Column[] = [PROBLEM, STATUSES, SEVERITY, BEGAN, NOTES];

const FINDINGS: readonly Column[] = [
  ['Finding', ({ value }) => concept(value.code)],
  ['Value', ({ type, value }, look) => (type === 'DiagnosticReport' ? reported(value, look) : found(value))],
  of('Interpretation', ({ interpretation }) => concept(interpretation)),
  of('Reference range', (value) => referenceRange(value.referenceRange)),
  of('Date', (value) => choice(value, 'effective') ?? moment(value.issued)),
  STATUS,
  NOTES,
];

/** Returns an Observation's value and those of its components, or the reason why there is none. */
function found(value: JsonObject): string | undefined {
  const own = choice(value, 'value') ?? concept(value.dataAbsentReason);
  const components = objects(value.component).map((component) => {
    const range = referenceRange(component.referenceRange);
    const shown = joined([
      choice(component, 'value') ?? concept(component.dataAbsentReason),
      concept(component.interpretation),
    ]);
    return `${concept(component.code) ?? ''}: ${shown ?? 'not known'}${range === undefined ? '' : ` (${range})`}`;
  });
  const members = objects(value.hasMember).length;
  return joined([own, ...components], '; ') ?? (members > 0 ? 'see the results of this panel' : undefined);
}

/** Returns a report's conclusion, or else the results that it groups. */
function reported({ conclusion, conclusionCode, result }: JsonObject, look: Look): string | undefined {
  const said = joined([text(conclusion), concept(conclusionCode)], '; ');
  if (said !== undefined) return said;
  return joined(
    objects(result).map(
      (each) => concept(look(text(each.reference) ?? '')?.value.code) ?? text(each.display),
    ),
  );
}

/** Returns a medication's name, from the resource itself or the Medication that it refers to. */
function medication({ value }: Source, look: Look): string | undefined {
  const { medicationCodeableConcept: named, medicationReference } = value;
  if (named !== undefined) return concept(named);
  const { reference, display } = first(medicationReference) ?? {};
  const there = contained(value, text(reference)) ?? look(text(reference) ?? '')?.value;
  return joined([concept(there?.code) ?? text(display), concept(there?.form)]);
}

function contained({ contained: all }: JsonObject, reference: string | undefined): JsonObject | undefined {
  return objects(all).find(({ id }) => `#${text(id) ?? ''}` === reference);
}

/** Returns the reason for an action: as text, or as the name of a referenced resource. */
function reason({ value }: Source, look: Look): string | undefined {
  const referred = objects(value.reasonReference).map(
    ({ reference, display }) => concept(look(text(reference) ?? '')?.value.code) ?? text(display),
  );
  return joined([concept(value.reasonCode), ...referred]);
}

function taken({ type, value }: Source): string | undefined {
  if (type === 'MedicationStatement') return choice(value, 'effective');
  const { validityPeriod } = first(value.dispenseRequest) ?? {};
  const on = moment(value.authoredOn);
  return period(validityPeriod) ?? (on === undefined ? undefined : `ordered ${on}`);
}

/** Returns a Device's name, its type and its identifiers. */
function device(value: JsonObject | undefined): string | undefined {
  if (value === undefined) return undefined;
  const named = objects(value.deviceName).map(({ name }) => text(name));
  return joined([concept(value.type), ...named, text(value.manufacturer), text(value.modelNumber)]);
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

/** The columns of each section. */
export const COLUMNS: Readonly<Record<SectionName, readonly Column[]>> = {
  problems: PROBLEMS,
  functionalStatus: PROBLEMS,
  pastProblems: [PROBLEM, STATUSES, BEGAN, of('Until', (value) => choice(value, 'abatement')), NOTES],
  allergies: [
    of('Substance', ({ code }) => concept(code)),
    of('Kind', ({ type, category }) =>
      joined([text(type), ...(Array.isArray(category) ? category.map(String) : [])]),
    ),
    of('Criticality', ({ criticality }) => text(criticality)),
    of('Reaction', ({ reaction }) =>
      joined(
        objects(reaction).map((each) =>
          joined([concept(each.substance), concept(each.manifestation), text(each.severity)]),
        ),
        '; ',
      ),
    ),
    STATUSES,
    BEGAN,
    of('Last reaction', ({ lastOccurrence }) => moment(lastOccurrence)),
    NOTES,
  ],
  medications: [
    ['Medication', medication],
    of('Dosage', (value) => dosage(value.dosage ?? value.dosageInstruction)),
    of('Status', ({ status, intent }) => joined([text(status), text(intent)])),
    ['When', taken],
    ['Reason', reason],
    NOTES,
  ],
  immunizations: [
    of('Vaccine', ({ vaccineCode }) => concept(vaccineCode)),
    of('Date', (value) => choice(value, 'occurrence')),
    of('Dose', (value) =>
      joined([
        ...objects(value.protocolApplied).map((protocol) => choice(protocol, 'doseNumber')),
        quantity(value.doseQuantity),
      ]),
    ),
    of('Against', ({ protocolApplied }) =>
      joined(objects(protocolApplied).map(({ targetDisease }) => concept(targetDisease))),
    ),
    of('Lot', ({ lotNumber }) => text(lotNumber)),
    STATUS,
    NOTES,
  ],
  results: FINDINGS,
  vitalSigns: FINDINGS,
  pregnancy: FINDINGS,
  socialHistory: FINDINGS,
  procedures: [
    of('Procedure', ({ code }) => concept(code)),
    of('Body site', ({ bodySite }) => concept(bodySite)),
    of('Date', (value) => choice(value, 'performed')),
    ['Reason', reason],
    of('Outcome', ({ outcome, complication }) => joined([concept(outcome), concept(complication)])),
    STATUS,
    NOTES,
  ],
  devices: [
    ['Device', (source, look) => device(usedDevice(source, look))],
    ['Identification', (source, look) => identification(usedDevice(source, look))],
    STATUS,
    ['Notes', (source, look) => notes(usedDevice(source, look)?.note)],
  ],
  advanceDirectives: [
    of('Document', ({ type, description }) => joined([concept(type), text(description)])),
    of('Date', ({ date }) => moment(date)),
    STATUS,
  ],
  planOfCare: [
    of('Plan', ({ title, category, description }) =>
      joined([text(title), concept(category), text(description)]),
    ),
    of('Activities', ({ activity }) =>
      joined(
        objects(activity).map(({ detail, reference }) => {
          const { code, description, status } = first(detail) ?? {};
          return joined(
            [concept(code), text(description), text(status), text(first(reference)?.display)],
            ' ',
          );
        }),
        '; ',
      ),
    ),
    of('Period', (value) => period(value.period)),
    of('Status', ({ status, intent }) => joined([text(status), text(intent)])),
    NOTES,
  ],
};
