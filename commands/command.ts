/** What every command of the write side takes and gives. */
import type { EventMetadata } from '#src/events/metadata.ts';
import type { Position, StreamHead } from '#src/events/store.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Authorship, Caller } from '#src/shared/caller.ts';
import type { IdSource } from '#src/shared/ids.ts';
import type { JsonObject } from '#src/shared/json.ts';
import type { Tenant } from '#src/shared/tenant.ts';
import type { Micros } from '#src/shared/time.ts';

/** The circumstances of a command: who, in whose name, under which request, and where ids and time come from. */
export interface CommandContext {
  readonly caller: Caller;
  readonly authorship: Authorship;
  readonly requestId: string;
  /** Seeded by the command's id (`ids.seed`): a retry draws the same. */
  readonly ids: IdSource;
  /** The service's clock, microseconds; a decision reads no other. */
  readonly now: () => Micros;
  /** Set when an `Idempotency-Key` came with the request. */
  readonly retry?: RetryNotes;
  /** Awaited before anything is written, where it is still being asked whether the caller may. Rejects with Refusal. */
  readonly permitted?: Promise<void>;
}

/** Who asks, under which request, and where ids and time come from: for commands on organizations, projects and the like. */
export interface RequestContext {
  readonly credential: MetadataBase['credential'];
  readonly requestId: string;
  readonly ids: IdSource;
  readonly now: () => Micros;
  /** Set when an `Idempotency-Key` came with the request. */
  readonly retry?: RetryNotes;
}

/** Where a command's append was tried: `expectedRevision` is -1 for a new stream. */
export interface Attempt {
  readonly stream: string;
  readonly expectedRevision: number;
}

/** What a request with an `Idempotency-Key` remembers between its attempts, kept beside the reserved key. */
export interface RetryNotes {
  /** What an earlier attempt of this request, which died, had noted: command id → attempt. */
  readonly earlier: ReadonlyMap<string, Attempt>;
  /** Notes durably, before an append is tried, where its events will be. The last note of a command id counts. */
  readonly note: (commandId: string, attempt: Attempt) => Promise<void>;
  /**
   * 256 random bits, the same for every attempt: what a secret that the answer shows is made of. Kept sealed until the
   * answer is, as that is.
   */
  readonly secret: () => Promise<Buffer>;
}

/** A resource as a client sent it, or as the service made it of a stored version. */
export interface SubmittedResource {
  readonly value: JsonObject;
  /** Whether its tree holds `LosslessNumber`s (see `src/shared/json.ts`). */
  readonly exact: boolean;
  /** The stored version that it was made of by changing some elements: it may keep faults which that has. */
  readonly madeOf?: JsonObject;
}

/** What became of one resource. */
export interface WriteResult {
  /**
   * `created`, `updated`, `restored` (an update of a deleted one), `deleted`; or nothing was written: `matched` (a
   * conditional create that found one, a directory entry that was there), `unchanged` (a repeated delete, a patch without effect).
   */
  readonly outcome: 'created' | 'updated' | 'restored' | 'deleted' | 'matched' | 'unchanged';
  readonly type: ResourceType;
  readonly id: string;
  readonly version: number;
  /** FHIR instant of that version; absent for a repeated delete, which nobody needs to look up. */
  readonly lastUpdated?: string;
  /** The exact FHIR JSON text of that version; absent when deleted, and for `matched` where nobody needed it. */
  readonly body?: string;
}

/** What is kept of a batch entry's result until all are there: without its body, where that will not be shown. */
export type KeepResult = (result: WriteResult) => WriteResult;

/** A command's answer: what it wrote and how far a read model must have come to show it. */
export interface Written<T> {
  readonly result: T;
  /** Undefined when nothing was appended. */
  readonly position: Position | undefined;
}

/** What a request wrote: the position of its last event, and when its first was recorded. */
export interface Wrote {
  readonly position: Position;
  readonly at: Micros;
}

/** A resource found by its id, for the write side. */
export interface Located {
  readonly type: ResourceType;
  readonly id: string;
  /** The stream that its events are in. */
  readonly stream: string;
  /** Its newest; all from 1 on are there. */
  readonly version: number;
  readonly deleted: boolean;
  /** A Provenance that the service made from an event: it can be referred to, never written. */
  readonly automatic?: boolean;
}

/**
 * What a command looks up outside its own stream; `app.ts` hands it in over the read models. Both see only what the
 * caller may see.
 */
export interface Lookup {
  /** By id, deleted ones included. Absent from the map: not there, or not for this caller. */
  locate(caller: Caller, ids: readonly string[]): Promise<ReadonlyMap<string, Located>>;
  /**
   * Ids of the live resources that match search criteria (`identifier=s|v&…`, as in a URL's query), at most two: none,
   * one, or "several". The read model is at the log's head when it is asked.
   * @param except ids that do not count: what the same transaction deletes or replaces.
   * @throws Refusal `malformed` for a parameter or value that search does not take.
   */
  match(
    caller: Caller,
    type: ResourceType,
    criteria: string,
    except?: readonly string[],
  ): Promise<readonly string[]>;
  /** Current bodies (FHIR JSON texts) of live directory entries. */
  directoryBodies(
    caller: Caller,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, { type: ResourceType; body: string }>>;
}

/** Runs work while holding locks on conditional criteria, across all instances; keys are taken in sorted order. */
export interface CriteriaLocks {
  hold<T>(keys: readonly string[], work: () => Promise<T>): Promise<T>;
}

/** A resource as decisions know it. */
export interface Entry {
  readonly type: string;
  readonly version: number;
  readonly deleted: boolean;
  /** Revision of the event that wrote this version: where its body is. */
  readonly revision: number;
}

/** A stream's snapshot, with those of its entries that were asked for. */
export interface Snapshot {
  /** The version of the fold that it is of (`SNAPSHOT_VERSION`). */
  readonly fold: number;
  readonly head: StreamHead;
  readonly recordedAt: Micros;
  readonly owner: Tenant | undefined;
  readonly entries: ReadonlyMap<string, Entry>;
}

/** Where snapshots are kept (`src/operations/snapshots.ts`). Losing them costs time, never truth. */
export interface Snapshots {
  /** The newest snapshot of a stream and its entries among `ids`, in one consistent look; undefined when there is none. */
  load(stream: string, ids: readonly string[]): Promise<Snapshot | undefined>;
  /**
   * Moves the snapshot forward to `head`; `changed` are all entries touched since the one it replaces, or all there are
   * when that is of an older fold.
   * @returns false when there is one of a newer fold: it stays.
   */
  save(
    stream: string,
    snapshot: Omit<Snapshot, 'entries'>,
    changed: ReadonlyMap<string, Entry>,
  ): Promise<boolean>;
  /** Removes a stream's snapshot. */
  forget(stream: string): Promise<void>;
}

/** Metadata that the events of a command share: without their version, time, owner and place in the append. */
export type MetadataBase = Omit<EventMetadata, 'schema_version' | 'recorded_at' | 'append' | 'owner'>;

/** The metadata that all events of a command share. */
export function metadataBase(ctx: CommandContext, transactionId?: string): MetadataBase {
  const { caller, authorship } = ctx;
  return {
    request_id: ctx.requestId,
    command_id: ctx.ids.seed,
    credential: { kind: caller.kind, ...caller.tenant, key_id: caller.keyId },
    author: {
      type: authorship.authorType,
      ...(authorship.authorRef === undefined ? {} : { reference: authorship.authorRef }),
      ...(authorship.authorName === undefined ? {} : { display: authorship.authorName }),
    },
    ...(authorship.actingAs === undefined ? {} : { acting_as: authorship.actingAs }),
    ...(authorship.actingName === undefined ? {} : { acting_as_display: authorship.actingName }),
    ...(authorship.onBehalfOf === undefined ? {} : { on_behalf_of: { ...authorship.onBehalfOf } }),
    ...(authorship.sourceSystem === undefined ? {} : { source_system: authorship.sourceSystem }),
    ...(authorship.originId === undefined ? {} : { origin_id: authorship.originId }),
    ...(transactionId === undefined ? {} : { transaction_id: transactionId }),
  };
}
