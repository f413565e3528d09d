/** Merges a result that is sent again, in a later request or within the same one. Pure. */
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { sameJson } from '#src/shared/json/json-equal.ts';
import { without } from '#src/shared/json/json-value.ts';
import { listIn, objectIn, textIn } from '../v1/elements.ts';
import type { Draft, LabType } from './labs.ts';
import { isRevived, isStepBack, isWithdrawn } from './status.ts';

/** The outcome of a merge. */
export interface Merged {
  /** The current resource; the same object if nothing changed. */
  readonly resource: JsonObject;
  /** Notes for the sender. */
  readonly told: readonly string[];
}

/** Elements that an import sets; elements that users added stay. */
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
const VALUE = /^(?:value[A-Z]|component$)/;
/** The reason why a value is missing: a resource has either this or a value. */
const NO_VALUE = 'dataAbsentReason';

/**
 * Merges a report into the stored resource. If the report is older, or has an earlier status, it changes nothing except which
 * results a DiagnosticReport lists.
 * @param draft with its references as they will be in the record
 */
export function merge(before: JsonObject, draft: Draft): Merged {
  const { type, resource, made } = draft;
  const { next, note } = nextVersion(draft, before);
  if (isSameBut(before, next)) return { resource: before, told: [] };
  const stale = type === 'Specimen' ? undefined : whyStale(before, resource, made);
  if (stale !== undefined) {
    const linked = { ...before, ...withResults(type, before, resource) };
    return {
      resource: isSameBut(before, linked) ? before : linked,
      told: type === 'DiagnosticReport' ? [] : [stale],
    };
  }
  const told = [
    ...(note === undefined ? [] : ['it has no value; the earlier value is kept']),
    ...(hasValue(before) && !hasValue(next) ? ['it withdraws the earlier value'] : []),
  ];
  return { resource: next, told };
}

/** Names for changed elements whose FHIR names would be unclear. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['referenceRange', 'reference range'],
  ['effectiveDateTime', 'date'],
  ['bodySite', 'body site'],
  ['derivedFrom', 'parent result'],
  [NO_VALUE, 'reason for a missing value'],
]);

/**
 * Describes what a version changed, in words and without values: `value and status changed, reference range removed`.
 * @returns an empty text if only members that `isSameBut` ignores have changed
 */
export function changesIn(before: JsonObject, after: JsonObject): string {
  const [one, other] = [comparable(before), comparable(after)];
  const called = (name: string): string => (VALUE.test(name) ? 'value' : name);
  const byKind = (resource: JsonObject, kind: string): JsonObject =>
    Object.fromEntries(Object.entries(resource).filter(([name]) => called(name) === kind));
  const kinds = [...new Set([...Object.keys(one), ...Object.keys(other)].map(called))];
  const did = (kind: string): string | undefined => {
    const [was, is] = [byKind(one, kind), byKind(other, kind)];
    if (sameJson(was, is)) return undefined;
    if (Object.keys(is).length === 0) return 'removed';
    return Object.keys(was).length === 0 ? 'added' : 'changed';
  };
  const all = kinds.map((kind) => [NAMES.get(kind) ?? kind, did(kind)] as const);
  return ['changed', 'added', 'removed']
    .flatMap((verb) => {
      const names = all.flatMap(([name, done]) => (done === verb ? [name] : []));
      return names.length === 0 ? [] : [`${names.join(' and ')} ${verb}`];
    })
    .join(', ');
}

/** Returns whether two resources are equal apart from the time of sending. */
export function isSameBut(before: JsonObject, after: JsonObject): boolean {
  return before === after || sameJson(comparable(before), comparable(after));
}

function comparable(resource: JsonObject): JsonObject {
  const rest = without(resource, 'meta', 'id', 'issued', 'date', 'text');
  if (!Array.isArray(rest.content)) return rest;
  return { ...rest, content: listIn(rest.content).map(comparableContent) };
}

/** Returns a document's content for comparison; bytes in the document store are compared by hash. */
function comparableContent({ attachment }: JsonObject): Json {
  if (!isObject(attachment)) return {};
  const { contentType = '', title = '', hash, url = '' } = attachment;
  return { contentType, title, bytes: hash ?? url };
}

/**
 * Returns whether a document's content differs, because a document's content can't be changed (docs/spec/decisions.md, section
 * 4).
 */
export function hasOtherBytes(before: JsonObject, after: JsonObject): boolean {
  const bytes = ({ content }: JsonObject): Json[] =>
    listIn(content).map((one) => objectIn(comparableContent(one)).bytes ?? null);
  return !sameJson(bytes(before), bytes(after));
}

/** Returns the elements of a resource that an import sets. */
export function pickImported(type: LabType, resource: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(resource).filter(([name]) => OWN[type].includes(name)));
}

/** Returns the next version, with the imported elements replaced and all others unchanged. */
function nextVersion(draft: Draft, before: JsonObject): { next: JsonObject; note: string | undefined } {
  const { type, keptNote, resource } = draft;
  const kept = pickKept(before, draft);
  const note = hasValue(kept) ? keptNote : undefined;
  const next = {
    ...without(before, ...OWN[type], 'text'),
    ...without(resource, 'identifier'),
    ...kept,
    ...(note === undefined ? {} : { note: [...listIn(resource.note), { text: note }] }),
    ...withResults(type, before, resource),
  };
  return { next, note };
}

/**
 * Returns the elements that are kept from the stored resource. None are kept if a withdrawn result is reported again. A
 * document's content is always kept. The reason for a missing value is kept only if the report needs no value.
 */
function pickKept(before: JsonObject, { type, keeps = [], keptNote, resource }: Draft): JsonObject {
  if (type !== 'DocumentReference' && isRevived(before.status, resource.status)) return {};
  const said = new Set(Object.keys(resource).map(memberKind));
  if (isInAnotherUnit(before, resource)) said.add('referenceRange');
  return Object.fromEntries(
    Object.entries(before).filter(
      ([name]) =>
        keeps.includes(memberKind(name)) &&
        !said.has(memberKind(name)) &&
        (name !== NO_VALUE || keptNote === undefined),
    ),
  );
}

/** Returns whether both resources have numbers, but in different units. The old range then doesn't apply. */
function isInAnotherUnit(before: JsonObject, after: JsonObject): boolean {
  const [one, other] = [before, after].map(({ valueQuantity }) => {
    const { code, unit } = objectIn(valueQuantity);
    return code ?? unit;
  });
  return one !== undefined && other !== undefined && one !== other;
}

function memberKind(name: string): string {
  return name === NO_VALUE || VALUE.test(name) ? 'value' : name;
}

function hasValue(resource: JsonObject): boolean {
  return Object.keys(resource).some((name) => VALUE.test(name));
}

/** Returns the results that a report already listed, together with the new ones. */
function withResults(type: LabType, before: JsonObject, draft: JsonObject): JsonObject {
  if (type !== 'DiagnosticReport') return {};
  const all = new Map<string, JsonObject>();
  for (const one of [...listIn(before.result), ...listIn(draft.result)]) all.set(String(one.reference), one);
  return all.size === 0 ? {} : { result: [...all.values()] };
}

/**
 * Returns why a report changes nothing; undefined if it changes something. A final result replaces a corrected result only if
 * it was made after the corrected one was issued. The times stated in the report itself decide, because a message that is sent
 * again has a new MSH-7.
 */
function whyStale(before: JsonObject, draft: JsonObject, made: string | undefined): string | undefined {
  const [then, now] = [momentIn(before), momentIn(draft)];
  if (now < then) return 'it is older than the stored result, which is kept';
  const isLaterFinal = draft.status === 'final' && Date.parse(made ?? '') > then;
  if (isStepBack(before.status, draft.status) && !isLaterFinal)
    return 'its status is earlier than that of the stored result, which is kept';
  if (isWithdrawn(before.status) && !isWithdrawn(draft.status) && !(now > then))
    return 'the stored result was withdrawn, and this one isn’t later';
  return undefined;
}

/** Returns when a result was issued, in ms since 1970; NaN if unknown. */
function momentIn({ issued, date }: JsonObject): number {
  return Date.parse(textIn(issued) ?? textIn(date) ?? '');
}
