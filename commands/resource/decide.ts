/**
 * Decisions on versioned resources in one stream. Pure. They are the same for records and directories, and for single
 * resources and transactions. Rules: docs/spec/decisions.md, section 5 "Writes".
 */
import type { DomainEvent } from '#src/events/catalog.ts';
import type { Draft } from '#src/events/codec.ts';
import { recordPatient } from '#src/events/streams.ts';
import type { IfMatch } from '#src/fhir/bundle.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { isObject, type JsonObject, printJson } from '#src/shared/json/json.ts';
import { without } from '#src/shared/json/json-value.ts';
import { methodNotAllowed } from '#src/shared/method-not-allowed.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time/time.ts';
import type { SubmittedResource, WriteResult } from '../command.ts';
import type { Clock, Decision } from '../kernel/decision.ts';
import { Stale } from '../kernel/kernel.ts';
import type { Finalized } from './contents.ts';
import { findEntry, type Resources } from './state.ts';

/** A write whose target is resolved and whose resource is valid. */
export type Write =
  | {
      readonly kind: 'create';
      readonly eventId: string;
      readonly type: ResourceType;
      readonly id: string;
      readonly resource: SubmittedResource;
      /** The output of `printContent`; if absent, the decision computes it. */
      readonly printed?: string;
      readonly finalized?: readonly Finalized[];
    }
  | {
      readonly kind: 'update';
      readonly eventId: string;
      readonly type: ResourceType;
      readonly id: string;
      readonly resource: SubmittedResource;
      /** As in `create`. */
      readonly printed?: string;
      readonly ifMatch?: IfMatch;
      /** The version that a patch was applied to. If the current version differs, the patch must be applied again. */
      readonly basedOn?: number;
      /** A PATCH must not restore a deleted resource. */
      readonly mustBeLive?: boolean;
      /** Document bytes that appear for the first time in this version. */
      readonly finalized?: readonly Finalized[];
    }
  | {
      readonly kind: 'remove';
      readonly eventId: string;
      readonly type: ResourceType;
      readonly id: string;
      readonly ifMatch?: IfMatch;
      /** The version for which the deletion was decided. */
      readonly basedOn?: number;
    };

/** A write, with its stream. */
export interface PlacedWrite {
  readonly write: Write;
  readonly stream: string;
}

/** Returns the ids whose entries a decision about these writes needs, including the record's Patient. */
export function touchedIds(stream: string, writes: readonly Write[]): string[] {
  const patient = recordPatient(stream);
  const ids = writes.map((write) => write.id);
  return patient === undefined ? ids : [patient, ...ids];
}

/**
 * Decides on writes to one stream, in order; either all are possible or none is made.
 * @param blame runs the decision on the n-th write, so that its refusal can name the Bundle entry
 * @throws Refusal 404 405 409 412 for the first write that isn't possible; Stale if a patch must be applied again
 */
export function decideWrites(
  state: Resources,
  clock: Clock,
  writes: readonly Write[],
  blame: Blame = (_, work) => work(),
): Decision<WriteResult[]> {
  refuseOnDeletedPatient(state, writes, blame);
  const drafts: Draft[] = [];
  const result = writes.map((write, index) => {
    const decided = blame(index, () => decideWrite(state, clock, write));
    if (decided.draft !== undefined)
      drafts.push(decided.draft, ...finalizations(state, clock, write, decided));
    return decided.result;
  });
  return { drafts, result };
}

/**
 * Decides like `decideWrites`, but also on directory entries that the append carries.
 * @param carrying undefined if no entries are carried
 */
export function decideCarrying(
  state: Resources,
  clock: Clock,
  writes: readonly Write[],
  carrying: Omit<Draft, 'at'> | undefined,
  blame?: Blame,
): Decision<WriteResult[]> {
  const { drafts, result } = decideWrites(state, clock, writes, blame);
  if (carrying === undefined) return { drafts, result };
  return { drafts: [...drafts, { ...carrying, at: clock.next() }], result };
}

/** Returns the events that make bytes a document's own; they accompany the version that shows the bytes. */
function finalizations(state: Resources, clock: Clock, write: Write, { result }: Decided): Draft[] {
  const patient = recordPatient(state.stream);
  if (write.kind === 'remove' || write.finalized === undefined || patient === undefined) return [];
  return write.finalized.map(({ eventId, blob, contentType, size, sha256 }) => ({
    id: eventId,
    at: clock.next(),
    event: {
      type: 'DocumentFinalized',
      data: { id: write.id, patient, version: result.version, content_type: contentType, size, sha256, blob },
    },
  }));
}

/** Runs the decision on the n-th write, so that its refusal can name the entry. */
export type Blame = <T>(index: number, work: () => T) => T;

/** The result of one write, and its draft if it needs one. */
export interface Decided {
  readonly draft?: Draft;
  readonly result: WriteResult;
}

function decideWrite(state: Resources, clock: Clock, write: Write): Decided {
  const { type, id, eventId } = write;
  const entry = findEntry(state, id);
  if (write.kind === 'create') {
    if (entry !== undefined) throw new TypeError(`the id ${id} was generated twice`);
    return version(clock, eventId, 'ResourceCreated', 'created', type, id, 1, write);
  }
  if (entry === undefined || entry.type !== type)
    throw write.kind === 'update' ? noClientIds(type) : notFound(type, id);
  refuseStale(type, id, entry.version, write.ifMatch);
  if (write.basedOn !== undefined && write.basedOn !== entry.version) throw new Stale();
  if (write.kind === 'remove') {
    if (entry.deleted) {
      return { result: { outcome: 'unchanged', type, id, version: entry.version } };
    }
    const at = clock.next();
    const event: DomainEvent = {
      type: 'ResourceDeleted',
      resourceType: type,
      resourceId: id,
      version: entry.version + 1,
    };
    return {
      draft: { id: eventId, at, event },
      result: { outcome: 'deleted', type, id, version: entry.version + 1, lastUpdated: toInstant(at) },
    };
  }
  if (write.mustBeLive && entry.deleted) throw gone(type, id);
  const outcome = entry.deleted ? 'restored' : 'updated';
  return version(clock, eventId, 'ResourceUpdated', outcome, type, id, entry.version + 1, write);
}

function version(
  clock: Clock,
  eventId: string,
  event: 'ResourceCreated' | 'ResourceUpdated',
  outcome: WriteResult['outcome'],
  type: ResourceType,
  id: string,
  number: number,
  { resource, printed }: Extract<Write, { readonly resource: SubmittedResource }>,
): Decided {
  const at = clock.next();
  const lastUpdated = toInstant(at);
  const body = printVersion(resource, id, number, lastUpdated, printed);
  return {
    draft: {
      id: eventId,
      at,
      event: { type: event, resourceType: type, resourceId: id, version: number, body },
    },
    result: { outcome, type, id, version: number, lastUpdated, body },
  };
}

/**
 * Returns a version's text as it will be served; the service sets `id`, `meta.versionId` and `meta.lastUpdated`.
 * @param printed the result of `printContent` for the resource
 */
function printVersion(
  resource: SubmittedResource,
  id: string,
  version: number,
  lastUpdated: string,
  printed = printContent(resource),
): string {
  const { resourceType, meta } = resource.value;
  const kept: JsonObject = isObject(meta) ? meta : {};
  const { versionId: _version, lastUpdated: _time, ...others } = kept;
  const head: JsonObject = {
    resourceType: resourceType ?? null,
    id,
    meta: { versionId: String(version), lastUpdated, ...others },
  };
  const text = printJson(head, resource.exact);
  return printed === '{}' ? text : `${text.slice(0, -1)},${printed.slice(1)}`;
}

/** Serializes the parts of a resource that don't depend on its version. */
export function printContent({ value, exact }: SubmittedResource): string {
  return printJson(without(value, 'resourceType', 'id', 'meta'), exact);
}

/**
 * Refuses new writes (409) to a record whose Patient is deleted, or is deleted by these same writes (R4 processes deletions
 * first); they stay refused until the Patient is restored. Other deletions in the request that deletes the Patient are
 * allowed.
 */
function refuseOnDeletedPatient(state: Resources, writes: readonly Write[], blame: Blame): void {
  const patient = recordPatient(state.stream);
  if (patient === undefined) return;
  const entry = findEntry(state, patient);
  const own = writes.find(({ id }) => id === patient);
  if (entry === undefined && own?.kind !== 'create') throw notFound('Patient', patient);
  if (own !== undefined && own.kind !== 'remove') return;
  if (!entry?.deleted && own === undefined) return;
  writes.forEach((write, index) => {
    const removes =
      write.kind === 'remove' && (!entry?.deleted || (findEntry(state, write.id)?.deleted ?? true));
    if (removes) return;
    blame(index, () => {
      const diagnostics = `Patient/${patient} is deleted; restore it (PUT Patient/${patient}) before you write to its record`;
      throw new Refusal('conflict', { code: 'conflict', diagnostics });
    });
  });
}

/** Returns the refusal (405) for a PUT to an unknown id or to an id in another project: clients can't choose ids. */
export function noClientIds(type: ResourceType): Refusal {
  const what = `${type}/<id> doesn't exist, and clients cannot choose ids; create it with POST ${type}`;
  return methodNotAllowed(what, 'GET, HEAD, OPTIONS');
}

/** Returns the refusal (405) for a write to a Provenance that the service generates from an event; clients can't change it. */
export function automaticProvenance(id: string): Refusal {
  const what = `Provenance/${id} was created by the service and cannot be changed or deleted`;
  return methodNotAllowed(what, 'GET, HEAD, OPTIONS');
}

/**
 * Refuses a write whose `If-Match` doesn't name the current version.
 * @throws Refusal precondition_failed (412)
 */
export function refuseStale(type: string, id: string, version: number, ifMatch: IfMatch | undefined): void {
  if (ifMatch === undefined || ifMatch === '*' || ifMatch === version) return;
  const diagnostics = `${type}/${id} is at version ${version}, but If-Match names version ${ifMatch}; read it again and retry`;
  throw new Refusal('precondition_failed', { code: 'conflict', diagnostics });
}

/** Returns the refusal (412) for `If-Match` on a resource that doesn't exist (RFC 9110, section 13.1.1). */
export function nothingMatches(type: string, id: string): Refusal {
  const diagnostics = `${type}/${id} doesn't exist, but If-Match requires it to`;
  return new Refusal('precondition_failed', { code: 'conflict', diagnostics });
}

/** Returns the refusal (410) for a request for a deleted resource. */
export function gone(type: string, id: string): Refusal {
  return new Refusal('gone', { code: 'deleted', diagnostics: `${type}/${id} is deleted` });
}
