/** Random writes of one resource under a grant, through the FHIR interface, either alone or as entries in a Bundle. */
import { escapedJson, fuzzed, type PatientIds } from './fuzz.ts';
import type { Change, Ledger } from './ledger.ts';
import type { Picks } from './requests.ts';
import { CATEGORIES, CATEGORY_SYSTEM, resourceOf, WITH_CATEGORY, WORLD_TYPES, type World } from './world.ts';

/** A change, and how it is sent. */
export interface Sent {
  readonly change: Change;
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the base, without a leading slash. */
  readonly url: string;
  /** The members that the new version must have when it is read; for a patch, only the changed members. */
  readonly resource?: Readonly<Record<string, unknown>>;
  /** JSON Patch. */
  readonly operations?: readonly object[];
  readonly ifMatch?: string;
  readonly ifNoneExist?: string;
}

/** The data that changes are generated from. */
export interface Ground {
  readonly world: World;
  readonly ledger: Ledger;
  readonly ids: PatientIds;
  /** Returns a new identifier value with each call. */
  readonly another: () => string;
  /** True if requests may contain the real id. Responses may then also contain it, because they repeat what was sent. */
  readonly isReal: boolean;
  /** Ids of documents that were created through REST v1. Their content can't be changed. */
  readonly documents: Set<string>;
}

const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const JSON_PATCH = 'application/json-patch+json';

/**
 * Returns a change.
 * @param taken ids and identifiers that other changes in the same request use
 */
export function changeOf(ground: Ground, picks: Picks, taken: Set<string>): Sent {
  const { ledger, ids, another, isReal } = ground;
  const interaction = picks.of(['create', 'create', 'update', 'update', 'patch', 'delete'] as const);
  const named = targetOf(ground, picks, taken);
  const target = named === ids.record && !isReal && interaction !== 'update' ? undefined : named;
  const held = target === undefined ? undefined : ledger.held.get(target);
  const isPatient = target === ids.record && interaction === 'update';
  const known = WORLD_TYPES.find((each) => each === held?.type);
  const type = isPatient ? 'Patient' : (known ?? picks.of(WORLD_TYPES));
  const isConditional = !isPatient && picks.below(4) === 0;
  const criterion = isConditional ? (held?.identifier ?? another()) : undefined;
  const id =
    interaction === 'create' || isConditional ? undefined : isPatient ? ids.patient : (target ?? UNKNOWN);
  const [subject, isInRecord] = subjectOf(ground, picks);
  const hasCategory = WITH_CATEGORY.some((each) => each === type);
  const codes = hasCategory ? CATEGORIES.filter(() => picks.below(2) === 0) : [];
  const identifier = another();
  const stale = id !== undefined && picks.below(8) === 0;
  const changed = {
    identifier: [
      { system: 'urn:thing', value: identifier },
      {
        system: `urn:x:${encodeURIComponent(fuzzed(ids, picks, isReal))}`,
        value: fuzzed(ids, picks, isReal),
      },
    ],
    ...(codes.length === 0
      ? {}
      : { category: codes.map((code) => ({ coding: [{ system: CATEGORY_SYSTEM, code }] })) }),
  };
  const whole = {
    resourceType: type,
    ...(id === undefined ? {} : { id }),
    text: {
      status: 'generated',
      div: `<div xmlns="http://www.w3.org/1999/xhtml"><p>${markup(fuzzed(ids, picks, isReal))}</p></div>`,
    },
    extension: [{ url: 'https://x.example/note', valueString: fuzzed(ids, picks, isReal) }],
    ...(type === 'Patient'
      ? { name: [{ family: 'Sand', given: [fuzzed(ids, picks, isReal)] }] }
      : resourceOf(type, subject, picks.below(10))),
    ...changed,
  };
  const isPatch = interaction === 'patch';
  const change: Change = {
    ...{ interaction, type, criterion, identifier },
    id: id === ids.patient ? ids.record : id,
    // A patch without categories leaves the existing categories unchanged.
    categories: interaction === 'delete' || (isPatch && codes.length === 0) ? undefined : codes,
    isInRecord: interaction === 'delete' || isPatch || isPatient || isInRecord,
    isStale: stale,
  };
  const method = ({ create: 'POST', update: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const)[interaction];
  const query = criterion === undefined ? '' : `identifier=urn:thing%7C${criterion}`;
  return {
    ...{ change, method },
    url:
      id === undefined
        ? `${type}${query === '' || interaction === 'create' ? '' : `?${query}`}`
        : `${type}/${id}`,
    ...(interaction === 'delete' ? {} : { resource: isPatch ? changed : whole }),
    ...(isPatch
      ? {
          operations: Object.entries(changed).map(([name, value]) => ({
            op: 'add',
            path: `/${name}`,
            value,
          })),
        }
      : {}),
    ...(stale ? { ifMatch: `W/"${(held?.version ?? 1) + 7}"` } : {}),
    ...(interaction === 'create' && query !== '' ? { ifNoneExist: query } : {}),
  };
}

/**
 * Returns the id of a resource to change: usually in the record, otherwise in another record; undefined if there is none.
 * @param taken ids that must not be chosen; the returned id is added
 */
export function targetOf(
  { world, ledger, documents }: Ground,
  picks: Picks,
  taken: Set<string>,
): string | undefined {
  const free = [...ledger.held].filter(
    ([id, { type }]) => !taken.has(id) && !documents.has(id) && type !== 'Provenance',
  );
  const mine = free.filter(([, { isMine }]) => isMine);
  const others = free.filter(([id, { isMine }]) => !isMine && id !== world.other);
  const pool = picks.of([mine, mine, mine, mine, others, []]);
  if (pool.length === 0) return undefined;
  const [id] = picks.of(pool);
  taken.add(id);
  return id;
}

/** Returns a reference to a Patient, and whether it is the grant's Patient. */
function subjectOf({ world, ids, isReal }: Ground, picks: Picks): [string, boolean] {
  const wrong = picks.below(10);
  if (wrong === 0 && isReal) return [`Patient/${ids.record}`, false];
  if (wrong === 1) return [`Patient/${picks.of([world.other, UNKNOWN])}`, false];
  return [`Patient/${ids.patient}`, true];
}

const markup = (text: string): string => text.replaceAll(/["\\|]/g, ' ');

/** Returns the request for a single change. */
export function requestOf(
  { method, url, resource, operations, ifMatch, ifNoneExist }: Sent,
  escapes: number,
): { method: string; url: string; headers: Record<string, string>; body?: string } {
  const sent = operations ?? resource;
  return {
    method,
    url: `/fhir/R4/${url}`,
    headers: {
      Prefer: 'return=representation',
      ...(sent === undefined
        ? {}
        : { 'Content-Type': operations === undefined ? 'application/fhir+json' : JSON_PATCH }),
      ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
      ...(ifNoneExist === undefined ? {} : { 'If-None-Exist': ifNoneExist }),
    },
    ...(sent === undefined ? {} : { body: escapedJson(sent, escapes) }),
  };
}

/** Returns a change as a Bundle entry. */
export function entryOf({ method, url, resource, operations, ifMatch, ifNoneExist }: Sent): object {
  const sent =
    operations === undefined
      ? resource
      : {
          resourceType: 'Binary',
          contentType: JSON_PATCH,
          data: Buffer.from(JSON.stringify(operations)).toString('base64'),
        };
  return {
    ...(sent === undefined ? {} : { resource: sent }),
    request: {
      ...{ method, url },
      ...(ifMatch === undefined ? {} : { ifMatch }),
      ...(ifNoneExist === undefined ? {} : { ifNoneExist }),
    },
  };
}
