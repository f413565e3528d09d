/** Decides which parts of a report are new, which are changed and which are already stored. Pure. */
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import type { Steps } from '#src/shared/load/slices.ts';
import type { WriteEntry } from '../fhir/bundle.ts';
import { listIn, textIn } from '../v1/elements.ts';
import { type Draft, draftUrl, LAB_SYSTEM, makeIdentifier, type Notes } from './labs.ts';
import { changesIn, hasOtherBytes, isSameBut, merge, pickImported } from './merge.ts';

/** The current state of a resource that an earlier report created. */
export interface Earlier {
  readonly id: string;
  readonly version: number;
  readonly resource: JsonObject;
}

/** Resources from earlier reports, by type and key. */
export type EarlierLabs = ReadonlyMap<string, Earlier>;

/** The decision on a draft. */
export interface Decided {
  readonly draft: Draft;
  readonly earlier?: Earlier;
  /** Empty if nothing needs to be written. */
  readonly entries: readonly WriteEntry[];
}

/** Returns a draft's key among earlier resources. */
export function draftKey({ type, key }: Pick<Draft, 'type' | 'key'>): string {
  return `${type} ${key}`;
}

/** Returns the keys that imports gave a resource; a document that was replaced has none. */
export function keysIn(resource: JsonObject): string[] {
  return listIn(resource.identifier).flatMap(({ system, value, use }) =>
    system === LAB_SYSTEM && use !== 'old' ? (textIn(value) ?? []) : [],
  );
}

/**
 * Decides what to do with reports, one result per step. A report that is older than the stored one, or whose status is a step
 * back, is skipped with a note. Replacements are noted too.
 * @param notes receives a note about each changed result
 */
export function* decideLabs(drafts: readonly Draft[], earlier: EarlierLabs, notes: Notes): Steps<Decided[]> {
  const known = new Map<string, string>();
  for (const draft of drafts) {
    const there = earlier.get(draftKey(draft));
    if (there !== undefined) known.set(draftUrl(draft.type, draft.key), `${draft.type}/${there.id}`);
  }
  const decided: Decided[] = [];
  for (const [index, draft] of drafts.entries()) {
    const { type, key, place } = draft;
    const there = earlier.get(draftKey(draft));
    const told: Told[] = [];
    const resource = yield* applyReports(draft, there?.resource, known, told);
    const at = { draft, ...(there === undefined ? {} : { earlier: there }) };
    if (resource === undefined || (there !== undefined && isSameBut(there.resource, resource)))
      decided.push({ ...at, entries: [] });
    else if (there === undefined)
      decided.push({
        ...at,
        entries: [{ index, method: 'POST', type, fullUrl: draftUrl(type, key), resource }],
      });
    else if (hasOtherBytes(there.resource, resource))
      decided.push({ ...at, entries: replacement(draft, there, resource, index, drafts.length) });
    else {
      const { id, version } = there;
      if (type === 'Observation')
        notes.warn(
          place,
          `an earlier result is replaced by version ${version + 1}: it is ${String(resource.status)}; ${changesIn(there.resource, resource)}`,
        );
      decided.push({
        ...at,
        entries: [
          {
            index,
            method: 'PUT',
            type,
            id,
            resource: renamed(resource, draft),
            ifMatch: version,
            madeOf: there.resource,
          },
        ],
      });
    }
    for (const [where, text] of told) notes.warn(where, text);
  }
  return decided;
}

/** Returns a resource with the draft's key instead of its former key. */
function renamed(resource: JsonObject, { key, former }: Draft): JsonObject {
  if (former === undefined || !keysIn(resource).includes(former.key)) return resource;
  const identifier = listIn(resource.identifier).map((one) =>
    one.system === LAB_SYSTEM && one.value === former.key ? { ...one, value: key } : one,
  );
  return { ...resource, identifier };
}

/** A note, and the place in the report that it refers to. */
type Told = readonly [place: string, text: string];

/**
 * Applies all reports of one result, in order.
 * @param there the stored resource, from an earlier request
 * @returns undefined if nothing needs to be written; the stored resource itself if it doesn't change
 */
function* applyReports(
  last: Draft,
  there: JsonObject | undefined,
  known: ReadonlyMap<string, string>,
  told: Told[],
): Steps<JsonObject | undefined> {
  let now = there;
  for (const draft of [...(last.before ?? []), last]) {
    yield;
    const { type, place } = draft;
    const resource = linked(draft.resource, known);
    if (now === undefined) {
      if (resource.status === 'entered-in-error')
        told.push([place, "it corrects or deletes a result that doesn't exist"]);
      if (type !== 'DocumentReference' || resource.content !== undefined) now = resource;
      else told.push([place, 'it has no content']);
      continue;
    }
    const merged = merge(now, { ...draft, resource });
    if (now !== there && merged.resource !== now) {
      if (type === 'Observation')
        told.push([
          place,
          `an earlier result of the same request is replaced: it is ${String(merged.resource.status)}; ${changesIn(now, merged.resource)}`,
        ]);
      if (hasOtherBytes(now, merged.resource))
        told.push([place, 'an earlier document of the same request is replaced']);
    }
    for (const text of merged.told) told.push([place, text]);
    now = merged.resource;
  }
  return now;
}

/**
 * Replaces one document with another: https://hl7.org/fhir/R4/documentreference-definitions.html#DocumentReference.relatesTo
 */
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
  const added = {
    resourceType: type,
    identifier: [makeIdentifier(key)],
    ...pickImported(type, resource),
    relatesTo,
  };
  return [
    { index, method: 'POST', type, fullUrl: draftUrl(type, key), resource: added },
    {
      index: others + index,
      method: 'PUT',
      type,
      id,
      resource: { ...before, status: 'superseded', identifier },
      ifMatch: version,
      madeOf: before,
    },
  ];
}

/** Returns a copy whose references to drafts that are already stored are replaced by references to the stored resources. */
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
