/** What of a report is new, what is changed and what is there already: pure. */
import { isObject, type Json, type JsonObject } from '#src/shared/json.ts';
import { sameJson, without } from '#src/shared/json-equal.ts';
import { mapSteps, type Steps } from '#src/shared/slices.ts';
import type { WriteEntry } from '../bundle.ts';
import { listIn, objectIn, textIn } from '../v1/elements.ts';
import { type Draft, draftUrl, LAB_SYSTEM, type LabType, type Notes } from './labs.ts';
import { isStepBack, isWithdrawn } from './status.ts';

/** What an earlier report wrote, as it stands now. */
export interface Earlier {
  readonly id: string;
  readonly version: number;
  readonly resource: JsonObject;
}

/** By type and key. */
export type EarlierLabs = ReadonlyMap<string, Earlier>;

/** What is to be done about a draft. */
export interface Decided {
  readonly draft: Draft;
  readonly earlier?: Earlier;
  /** None: nothing is written. */
  readonly entries: readonly WriteEntry[];
}

/** Elements that an import decides on; others, that somebody added, stay. */
const OWN: Readonly<Record<LabType, readonly string[]>> = {
  Observation: [
    ...['status', 'category', 'code', 'subject', 'effectiveDateTime', 'issued', 'performer', 'component'],
    ...['valueQuantity', 'valueString', 'valueCodeableConcept', 'valueBoolean', 'valueDateTime', 'valueTime'],
    ...['valueRange', 'valueRatio', 'dataAbsentReason', 'interpretation', 'note', 'bodySite', 'method'],
    ...['specimen', 'device', 'referenceRange', 'derivedFrom'],
  ],
  DiagnosticReport: [
    ...['extension', 'basedOn', 'status', 'category', 'code', 'subject', 'effectiveDateTime'],
    ...['effectivePeriod', 'issued', 'resultsInterpreter', 'specimen', 'result'],
  ],
  Specimen: ['subject', 'type', 'receivedTime', 'collection', 'condition'],
  DocumentReference: ['status', 'docStatus', 'type', 'subject', 'date', 'description', 'content', 'context'],
};
/** Values, and what says that there is none. */
const VALUE = /^(?:value[A-Z]|component$|dataAbsentReason$)/;

/** The name of a draft among what was there earlier. */
export function nameOf({ type, key }: Pick<Draft, 'type' | 'key'>): string {
  return `${type} ${key}`;
}

/** The keys of a resource that imports wrote; a document that was replaced has none. */
export function keysIn(resource: JsonObject): string[] {
  return listIn(resource.identifier).flatMap(({ system, value, use }) =>
    system === LAB_SYSTEM && use !== 'old' ? (textIn(value) ?? []) : [],
  );
}

/**
 * Decides, a draft a step. What is older than what is there, or a step back from it, is left alone and told; so is what was replaced.
 * @param notes gets what became of changed results
 */
export function* decideLabs(drafts: readonly Draft[], earlier: EarlierLabs, notes: Notes): Steps<Decided[]> {
  const known = new Map<string, string>();
  for (const draft of drafts) {
    const there = earlier.get(nameOf(draft));
    if (there !== undefined) known.set(draftUrl(draft.type, draft.key), `${draft.type}/${there.id}`);
  }
  return yield* mapSteps(drafts, (draft, index): Decided => {
    const { type, key } = draft;
    const there = earlier.get(nameOf(draft));
    const resource = linked(draft.resource, known);
    if (there === undefined) {
      if (resource.status === 'entered-in-error')
        notes.warn(draft.place, 'it takes back a result that is not there');
      if (type !== 'DocumentReference' || resource.content !== undefined)
        return { draft, entries: [{ index, method: 'POST', type, fullUrl: draftUrl(type, key), resource }] };
      notes.warn(draft.place, 'it has no payload');
      return { draft, entries: [] };
    }
    const { next, note } = nextOf(draft, there.resource, resource);
    if (isSameBut(there.resource, next)) return { draft, earlier: there, entries: [] };
    const stale = type === 'Specimen' ? undefined : whyStale(there.resource, resource, draft.made);
    const result =
      stale === undefined ? next : { ...there.resource, ...withResults(type, there.resource, resource) };
    if (stale !== undefined && type !== 'DiagnosticReport') notes.warn(draft.place, stale);
    if (isSameBut(there.resource, result)) return { draft, earlier: there, entries: [] };
    if (stale === undefined && hasOtherBytes(there.resource, next))
      return { draft, earlier: there, entries: replacement(draft, there, resource, index, drafts.length) };
    if (type === 'Observation')
      notes.warn(
        draft.place,
        `an earlier result is replaced by version ${there.version + 1}: it is ${String(result.status)}`,
      );
    if (stale === undefined && note !== undefined)
      notes.warn(draft.place, 'it has no value: the earlier one stays');
    if (stale === undefined && hasValue(there.resource) && !hasValue(result))
      notes.warn(draft.place, 'it takes back the earlier value');
    return {
      draft,
      earlier: there,
      entries: [{ index, method: 'PUT', type, id: there.id, resource: result, ifMatch: there.version }],
    };
  });
}

/** Of a report sent again only the time of sending may differ. */
function isSameBut(before: JsonObject, after: JsonObject): boolean {
  return sameJson(comparable(before), comparable(after));
}

function comparable(resource: JsonObject): JsonObject {
  const rest = without(resource, 'meta', 'id', 'issued', 'date', 'text');
  if (!Array.isArray(rest.content)) return rest;
  return { ...rest, content: listIn(rest.content).map(contentOf) };
}

/** A document's bytes may be in the document store: their hash tells them. */
function contentOf({ attachment }: JsonObject): Json {
  if (!isObject(attachment)) return {};
  const { contentType = '', title = '', hash, url = '' } = attachment;
  return { contentType, title, bytes: hash ?? url };
}

/** Whether a document comes with another content, which no document changes (decisions.md, section 4). */
function hasOtherBytes(before: JsonObject, after: JsonObject): boolean {
  const bytes = ({ content }: JsonObject): Json[] =>
    listIn(content).map((one) => objectIn(contentOf(one)).bytes ?? null);
  return !sameJson(bytes(before), bytes(after));
}

/** Another document takes its place: https://hl7.org/fhir/R4/documentreference-definitions.html#DocumentReference.relatesTo */
function replacement(
  { type, key }: Draft,
  { id, version, resource: before }: Earlier,
  resource: JsonObject,
  index: number,
  others: number,
): WriteEntry[] {
  const identifier = listIn(before.identifier).map((one) =>
    one.system === LAB_SYSTEM ? { ...one, use: 'old' } : one,
  );
  const relatesTo = [{ code: 'replaces', target: { reference: `${type}/${id}` } }];
  return [
    { index, method: 'POST', type, fullUrl: draftUrl(type, key), resource: { ...resource, relatesTo } },
    {
      index: others + index,
      method: 'PUT',
      type,
      id,
      resource: { ...before, status: 'superseded', identifier },
      ifMatch: version,
    },
  ];
}

/** The version after: what the import decides on anew, what others added as it was. */
function nextOf(
  { type, keeps = [], keptNote }: Draft,
  before: JsonObject,
  draft: JsonObject,
): { next: JsonObject; note: string | undefined } {
  const kept = keptOf(before, draft, keeps);
  const note = hasValue(kept) ? keptNote : undefined;
  const next = {
    ...without(before, ...OWN[type], 'text'),
    ...without(draft, 'identifier'),
    ...kept,
    ...(note === undefined ? {} : { note: [...listIn(draft.note), { text: note }] }),
    ...withResults(type, before, draft),
  };
  return { next, note };
}

/** What stays of what was there. @param keeps `value`, or elements' names */
function keptOf(before: JsonObject, draft: JsonObject, keeps: readonly string[]): JsonObject {
  const said = new Set(Object.keys(draft).map(kindOf));
  return Object.fromEntries(
    Object.entries(before).filter(([name]) => keeps.includes(kindOf(name)) && !said.has(kindOf(name))),
  );
}

function kindOf(name: string): string {
  return VALUE.test(name) ? 'value' : name;
}

function hasValue(resource: JsonObject): boolean {
  return Object.keys(resource).some((name) => VALUE.test(name));
}

/** A report keeps the results of earlier messages beside its new ones. */
function withResults(type: LabType, before: JsonObject, draft: JsonObject): JsonObject {
  if (type !== 'DiagnosticReport') return {};
  const all = new Map<string, JsonObject>();
  for (const one of [...listIn(before.result), ...listIn(draft.result)]) all.set(String(one.reference), one);
  return all.size === 0 ? {} : { result: [...all.values()] };
}

/**
 * Why a report does not change what is there; undefined when it does. A final result takes the place of a corrected one
 * only when it was made after that was issued, by the report's own times: a message that is sent again has a new MSH-7.
 */
function whyStale(before: JsonObject, draft: JsonObject, made: string | undefined): string | undefined {
  const [then, now] = [momentIn(before), momentIn(draft)];
  if (now < then) return 'it is older than the result that is there, which stays';
  const isLaterFinal = draft.status === 'final' && Date.parse(made ?? '') > then;
  if (isStepBack(before.status, draft.status) && !isLaterFinal)
    return 'it is a step back from the result that is there, which stays';
  if (isWithdrawn(before.status) && !isWithdrawn(draft.status) && !(now > then))
    return 'the result was taken back, and this is no later one';
  return undefined;
}

/** When a result was issued, ms since 1970; NaN when nothing says it. */
function momentIn({ issued, date }: JsonObject): number {
  return Date.parse(textIn(issued) ?? textIn(date) ?? '');
}

/** A copy with references of what is there already in the place of drafts'. */
function linked(resource: JsonObject, known: ReadonlyMap<string, string>): JsonObject {
  const link = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(link);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        name === 'reference' && typeof member === 'string' ? (known.get(member) ?? member) : link(member),
      ]),
    );
  };
  const copy = link(resource);
  return isObject(copy) ? copy : resource;
}
