/** Converts an order and its results (OBR, OBX, SPM) to a DiagnosticReport, Observations, Specimens and documents. */

import { cut } from '#src/shared/cut.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import type { Steps } from '#src/shared/load/slices.ts';
import { present } from '../v1/elements.ts';
import { isAttached, makeDocument } from './attached.ts';
import { codeText, readCodes } from './codes.ts';
import type { Segment } from './hl7v2/message.ts';
import { type Draft, draftUrl, type FormerKey, joinKey, makeIdentifier } from './labs.ts';
import { joinNotes, listed, makeObservation, personName, timeIn } from './observation.ts';
import { orderKey } from './order-key.ts';
import type { Order, Result } from './orders.ts';
import type { Reading } from './reading.ts';
import { makeSpecimens } from './specimen.ts';
import { reportStatus, statusFromReport } from './status.ts';
import { findAuthority } from './systems.ts';
import { fhirTime, isAfter, latest } from './times.ts';

const SECTIONS = 'http://terminology.hl7.org/CodeSystem/v2-0074';
const SECTION_CODES = new Set(
  'AU BG BLB CG CH CP CT CTH CUS EC EN GE HM ICU IMM LAB MB MCB MYC NMR NMS NRS OSL OT OTH OUS PAR PAT PF PHR PHY PT RAD RC RT RUS RX SP SR TX URN VR VUS XRC'.split(
    ' ',
  ),
);
const IMAGING = new Set('CT CTH CUS NMR NMS OUS RAD RUS RX VUS XRC'.split(' '));
/** Values of OBX-11 for a result that is withdrawn or becomes final: its value doesn't have to be sent again. */
const NEED_NO_VALUE = new Set(['D', 'U', 'W']);
/** Values of OBX-11 for a result that has no value, even if an earlier report had one. */
const HAVE_NO_VALUE = new Set(['N', 'X']);
/** Elements that stay unchanged if their OBX field is empty. */
const LEFT = [
  [5, 'value'],
  [7, 'referenceRange'],
  [8, 'interpretation'],
] as const;
const KEPT_NOTE = 'The value is that of an earlier report: this one has none (OBX-5 is empty).';
/**
 * The extension for notes on a report; R4 has no element for them:
 * https://hl7.org/fhir/R5/diagnosticreport-definitions.html#DiagnosticReport.note
 */
const NOTE = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-DiagnosticReport.note';

/** References to results from earlier orders in the message, by filler number, code and sub-id. */
export type Parents = Map<string, string>;

/**
 * Returns an order's drafts, one result per step.
 * @param parents receives this order's results, for later orders that derive from them
 */
export function* orderDrafts(
  order: Order,
  message: string,
  parents: Parents,
  reading: Reading,
): Steps<Draft[]> {
  const { obr, results } = order;
  const { key, former } = orderKey(order, message, reading);
  const times = readTimes(order, reading);
  const section = obr?.part(24).toUpperCase() ?? '';
  const specimens = makeSpecimens(order, key, reading);
  const seen = new Map<string, number>();
  const drafts: Draft[] = [];
  const derivedFrom = listParents(obr, parents);
  const orderLetter = obr?.part(25) ?? '';
  const missing =
    results.some(({ obx }) => obx.part(11) === '') && statusFromReport(orderLetter) === undefined;
  if (missing) reading.notes.warn(obr?.place ?? '', 'OBX-11 and OBR-25 are empty, so the status is unknown');
  for (const result of results) {
    yield;
    const { obx } = result;
    const own = resultKey(key, result, seen);
    if (isEmpty(result)) {
      reading.notes.warn(obx.place, 'it is empty');
      continue;
    }
    if (isAttached(obx)) {
      const of = { key: own, date: times.issued, report: reportUrl(order, key) };
      drafts.push({
        type: 'DocumentReference',
        key: own,
        place: obx.place,
        keeps: ['content'],
        resource: makeDocument(result, of, reading),
      });
      continue;
    }
    const effective = timeIn(obx, 14, reading) ?? times.effective;
    if (effective === undefined) reading.notes.warn(obx.place, 'it has no time of observation');
    const specimen = specimens.length === 1 ? specimens[0] : undefined;
    drafts.push({
      type: 'Observation',
      key: own,
      place: obx.place,
      ...kept(result),
      ...madeAt(latest([times.released, timeIn(obx, 19, reading), timeIn(obx, 14, reading)])),
      resource: makeObservation(
        result,
        {
          key: own,
          effective,
          issued: times.released ?? fhirTime(timeIn(obx, 19, reading), 'instant') ?? reading.sent,
          category: IMAGING.has(section) ? 'imaging' : 'laboratory',
          status: statusFromReport(orderLetter) ?? 'unknown',
          specimen: specimen === undefined ? undefined : draftUrl('Specimen', specimen.key),
          derivedFrom,
        },
        reading,
      ),
    });
    if (obr !== undefined)
      for (const line of [obx, ...result.more])
        parents.set(parentKey(obr.part(3), obx.part(3), line.part(4)), draftUrl('Observation', own));
  }
  const report = makeReport(order, { key, drafts, specimens, ...times }, reading);
  const all = [...specimens, ...drafts, ...(report === undefined ? [] : [report])];
  return former === undefined ? all : all.map((draft) => withFormer(draft, key, former));
}

/** Adds the former key to a draft whose key begins with the order's key. */
function withFormer(draft: Draft, order: string, { key, sender }: FormerKey): Draft {
  if (draft.key !== order && !draft.key.startsWith(`${order}/`)) return draft;
  return { ...draft, former: { key: key + draft.key.slice(order.length), sender } };
}

function reportUrl({ obr }: Order, key: string): string | undefined {
  return obr === undefined ? undefined : draftUrl('DiagnosticReport', key);
}

/** Returns a result's key: the order's key, OBX-3, OBX-4, and its index among results with the same key. */
function resultKey(order: string, { obx }: Result, seen: Map<string, number>): string {
  const key = `${order}/${joinKey(codeText(obx.part(3) || obx.part(3, 4) || obx.part(3, 2)), obx.first(4).text)}`;
  const nth = (seen.get(key) ?? 0) + 1;
  seen.set(key, nth);
  return nth === 1 ? key : `${key}/${nth}`;
}

function isEmpty({ obx, more, notes }: Result): boolean {
  if (more.length > 0 || notes.length > 0) return false;
  return obx.first(3).text === '' && obx.first(5).text === '';
}

const parentKey = (filler: string, code: string, subId: string): string => joinKey(filler, code, subId);

/** Returns the results from which an order derives: OBR-29 names the parent order, OBR-26 the result in that order. */
function listParents(obr: Segment | undefined, parents: Parents): string[] {
  if (obr === undefined || obr.first(26).text === '') return [];
  const filler = obr.part(29, 2) || obr.part(29);
  const found = parents.get(parentKey(filler, obr.part(26), obr.part(26, 2)));
  return found === undefined ? [] : [found];
}

/**
 * Returns the members that a result keeps from an earlier report. An empty field states nothing and changes nothing; `""`
 * deletes the earlier value (HL7 v2 chapter 2, "Field"). With a new value, the range is kept, but not the flags, which
 * belonged to the old value.
 */
function kept({ obx, more }: Result): Pick<Draft, 'keeps' | 'keptNote'> {
  const letter = obx.part(11).toUpperCase();
  const isLeft = (field: number): boolean =>
    [obx, ...more].every((segment) => segment.all(field).every((one) => one.isUnvalued));
  if (HAVE_NO_VALUE.has(letter)) return {};
  if (!isLeft(5)) return isLeft(7) ? { keeps: ['referenceRange'] } : {};
  const keeps = LEFT.flatMap(([field, name]) => (isLeft(field) ? [name] : []));
  return NEED_NO_VALUE.has(letter) ? { keeps } : { keeps, keptNote: KEPT_NOTE };
}

function madeAt(made: string | undefined): Pick<Draft, 'made'> {
  return made === undefined ? {} : { made };
}

interface Times {
  readonly effective: string | undefined;
  readonly end: string | undefined;
  readonly issued: string | undefined;
  /** When the results were released; if unknown, `issued` is the time at which the message was sent. */
  readonly released: string | undefined;
}

function readTimes({ obr, specimens }: Order, reading: Reading): Times {
  const [specimen] = specimens;
  const collected = specimen === undefined ? undefined : timeIn(specimen, 17, reading);
  if (obr === undefined)
    return { effective: collected, end: undefined, issued: reading.sent, released: undefined };
  const released = fhirTime(timeIn(obr, 22, reading), 'instant');
  return {
    effective: timeIn(obr, 7, reading) ?? collected,
    end: timeIn(obr, 8, reading),
    issued: released ?? reading.sent,
    released,
  };
}

interface Contents extends Times {
  readonly key: string;
  readonly drafts: readonly Draft[];
  readonly specimens: readonly Draft[];
}

function makeReport({ obr, orc, notes }: Order, of: Contents, reading: Reading): Draft | undefined {
  if (obr === undefined) return undefined;
  const { sender, subject } = reading;
  const service = readCodes(obr.first(4), sender);
  if (service === undefined) reading.notes.warn(obr.place, 'OBR-4 is empty: the report has no code');
  const letter = obr.part(25);
  const status = reportStatus(letter);
  if (letter !== '' && status === undefined)
    reading.notes.warn(obr.place, `OBR-25 ${cut(letter, 10)} is not a status of table 0123`);
  const section = obr.part(24).toUpperCase();
  const note = joinNotes(notes);
  const { effective, end, issued, released } = of;
  const results = of.drafts.filter(({ type }) => type === 'Observation');
  const placer = identifier(orc?.part(2) ? orc : obr, 2);
  return {
    type: 'DiagnosticReport',
    key: of.key,
    place: obr.place,
    ...madeAt(released),
    resource: {
      resourceType: 'DiagnosticReport',
      ...(note === undefined ? {} : { extension: [{ url: NOTE, valueAnnotation: { text: note } }] }),
      identifier: [makeIdentifier(of.key), ...(identifier(orc?.part(3) ? orc : obr, 3) ?? [])],
      ...(placer === undefined
        ? {}
        : { basedOn: placer.map((one): Json => ({ type: 'ServiceRequest', identifier: one })) }),
      status: status ?? 'unknown',
      category: [{ coding: [{ system: SECTIONS, code: SECTION_CODES.has(section) ? section : 'LAB' }] }],
      code: service?.concept ?? { text: 'OBR-4 is empty' },
      subject: { reference: subject },
      ...(effective !== undefined && end !== undefined && isAfter(end, effective)
        ? { effectivePeriod: { start: effective, end } }
        : present({ effectiveDateTime: effective })),
      ...present({ issued }),
      ...listed('resultsInterpreter', interpreters(obr)),
      ...listed(
        'specimen',
        of.specimens.map(({ key }) => ({ reference: draftUrl('Specimen', key) })),
      ),
      ...listed(
        'result',
        results.map(({ key }) => ({ reference: draftUrl('Observation', key) })),
      ),
    },
  };
}

/** Returns the interpreters' names (OBR-32). A name (CNN) is in the subcomponents of the first component. */
function interpreters(obr: Segment): JsonObject[] {
  return obr.all(32).flatMap((person) => {
    const inner = [person.part(1, 3), person.part(1, 2)].filter((part) => part !== '').join(' ');
    const display = inner || personName(person);
    return display === '' ? [] : [{ display }];
  });
}

/** Returns an order's number (EI) as an identifier. */
function identifier(segment: Segment, field: number): JsonObject[] | undefined {
  const value = segment.part(field);
  if (value === '') return undefined;
  const system = findAuthority(segment.part(field, 2), segment.part(field, 3));
  return [present({ system, value })];
}
