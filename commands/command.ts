/** Inputs and results of every command. */
import type { EventMetadata } from '#src/events/metadata.ts';
import type { Entry } from '#src/events/snapshot-entries.ts';
import type { Position, StreamHead } from '#src/events/store.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Unwritten } from '#src/fhir/unwritten.ts';
import type { Letters } from '#src/shared/access/access.ts';
import type { Authorship, Caller, Tenant } from '#src/shared/access/caller.ts';
import type { IdSource } from '#src/shared/ids.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** The context of a command: the caller, the author, the request, and the sources of ids and time. */
export interface CommandContext {
  readonly caller: Caller;
  readonly authorship: Authorship;
  readonly requestId: string;
  /** Seeded with the command's id (`ids.seed`): a retry draws the same ids. */
  readonly ids: IdSource;
  /** The service's clock, in microseconds; a decision reads no other clock. */
  readonly now: () => Micros;
  /** Set when an `Idempotency-Key` came with the request. */
  readonly retry?: RetryNotes | undefined;
  /**
   * A permission check that is still running; commands await it before they write anything. Rejects with
   * Refusal.
   */
  readonly permitted?: Promise<void> | undefined;
  /**
   * Called for each condition that was looked up, with the number of matches (`2` means several): under a grant, the lookup
   * counts as a read. Called again if the command has to be prepared again.
   */
  readonly searched?: Searched | undefined;
  /**
   * Returns text from a stored version or a patch in the form that an application with a grant sees; absent without a grant. A
   * patch's paths are evaluated on the returned text.
   */
  readonly asKnown?: ((text: string) => string) | undefined;
}

/** See `CommandContext.searched`. */
export type Searched = (type: ResourceType, criteria: string, matches: number) => void;

/** The context of commands on organizations, projects and so on: the caller, the request, and the sources of ids and time. */
export interface RequestContext {
  readonly credential: MetadataBase['credential'];
  readonly requestId: string;
  readonly ids: IdSource;
  readonly now: () => Micros;
  /** Set when an `Idempotency-Key` came with the request. */
  readonly retry?: RetryNotes;
  /** The reason why the service writes, for the event's metadata. */
  readonly cause?: string;
}

/** The target of a command's append: `expectedRevision` is -1 for a new stream. */
export interface Attempt {
  readonly stream: string;
  readonly expectedRevision: number;
}

/** Notes that a request with an `Idempotency-Key` keeps between its attempts; they are stored with the reserved key. */
export interface RetryNotes {
  /** Appends recorded by an earlier, failed attempt: command id → attempt. */
  readonly earlier: ReadonlyMap<string, Attempt>;
  /**
   * Durably records where an append's events will go, before the append is attempted. For each command id, the last note
   * applies.
   */
  readonly note: (commandId: string, attempt: Attempt) => Promise<void>;
  /**
   * Returns 256 random bits, the same for every attempt, for a secret in the response. They are stored encrypted, like the
   * response.
   */
  readonly secret: () => Promise<Buffer>;
}

/** A resource as a client sent it, or as the service made it from a stored version. */
export interface SubmittedResource {
  readonly value: JsonObject;
  /** True if its tree contains `LosslessNumber`s (see `src/shared/json/json.ts`). */
  readonly exact: boolean;
  /**
   * The stored version that was changed to make this resource. Faults that this version already had are accepted in the
   * resource.
   */
  readonly madeOf?: JsonObject;
}

/** The result for one resource. */
export interface WriteResult {
  /**
   * The outcome of a write: `created`, `updated`, `deleted`, or `restored` (a deleted resource was updated). Nothing was
   * written for `matched` (a conditional create found a match, or a directory entry already existed) and `unchanged` (a
   * repeated delete, or a patch with no effect).
   */
  readonly outcome: 'created' | 'updated' | 'restored' | 'deleted' | 'matched' | 'unchanged';
  readonly type: ResourceType;
  readonly id: string;
  readonly version: number;
  /** FHIR instant of the version; absent for a repeated delete. */
  readonly lastUpdated?: string;
  /**
   * The exact FHIR JSON text of the version; absent if the resource was deleted, and for `matched` if the text isn't needed.
   */
  readonly body?: string;
}

/** Returns the part of a batch entry's result that is kept: the result without its body if the body won't be shown. */
export type KeepResult = (result: WriteResult) => WriteResult;

/** A command's result, and the position that read models must reach before they show it. */
export interface Written<T> {
  readonly result: T;
  /** Undefined if the result depends on nothing in the log. */
  readonly position: Position | undefined;
}

/** The position of a request's last event, and the time at which its first event was recorded. */
export interface Wrote {
  readonly position: Position;
  readonly at: Micros;
}

/** A resource that the write side found by its id. */
export interface Located {
  readonly type: ResourceType;
  readonly id: string;
  /** The stream that contains the resource's events. */
  readonly stream: string;
  /** The newest version; all versions from 1 to this one exist. */
  readonly version: number;
  readonly deleted: boolean;
  /** True for a Provenance that the service made from an event: it can be referenced, but never written. */
  readonly automatic?: boolean;
  /** Under a grant: the letters of `ruds` that the grant has for the resource as read models show it. */
  readonly letters?: Letters;
}

/**
 * Lookups outside a command's own stream, implemented over the read models. They return only data that the caller may
 * see.
 */
export interface Lookup {
  /** Finds resources by id, including deleted ones. Ids that don't exist or that belong to other owners are absent. */
  locate(caller: Caller, ids: readonly string[]): Promise<ReadonlyMap<string, Located>>;
  /**
   * Returns the ids of live resources that match search criteria (`identifier=s|v&…`, as in a URL's query). Returns at most
   * two ids; two mean "several". Reads the read model only once it has reached the log's head.
   * @param except ids to ignore: the resources that the same transaction deletes or replaces
   * @throws Refusal `malformed` for an invalid parameter or value
   */
  match(
    caller: Caller,
    type: ResourceType,
    criteria: string,
    except?: readonly string[],
  ): Promise<readonly string[]>;
  /** Matches like `match`, for several searches, but only among resources that haven't been written yet. */
  matchUnwritten(
    caller: Caller,
    resources: readonly Unwritten[],
    searches: readonly { readonly type: ResourceType; readonly criteria: string }[],
  ): Promise<readonly (readonly string[])[]>;
  /**
   * Returns those of the given ids whose resources are in a record or in the directory of the record's project, including
   * deleted resources.
   */
  withinRecord(record: string, ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Finds a document that the caller's application created in the granted record; undefined for any other document. */
  ownDocument(caller: Caller, id: string): Promise<Located | undefined>;
  /** Reads the current bodies (FHIR JSON text) of live directory entries. */
  directoryBodies(
    caller: Caller,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, { type: ResourceType; body: string }>>;
}

/**
 * Runs work while holding locks on conditional criteria, across all instances. Locks are acquired in the sorted order of their
 * keys.
 */
export interface CriteriaLocks {
  hold<T>(keys: readonly string[], work: () => Promise<T>): Promise<T>;
}

/** A stream's snapshot, with only the requested entries. */
export interface Snapshot {
  /** The version of the fold that made the snapshot (`SNAPSHOT_VERSION`). */
  readonly fold: number;
  readonly head: StreamHead;
  readonly recordedAt: Micros;
  readonly owner: Tenant | undefined;
  readonly entries: ReadonlyMap<string, Entry>;
}

/** The store of snapshots (`src/operations/snapshots.ts`). Losing a snapshot costs time, but never data. */
export interface Snapshots {
  /**
   * Reads a stream's newest snapshot and those of its entries whose ids are in `ids`, consistently; undefined if the stream
   * has no snapshot.
   * @param withConsent true to get the entries of all grants and links too
   */
  load(stream: string, ids: readonly string[], withConsent?: boolean): Promise<Snapshot | undefined>;
  /**
   * Moves the snapshot forward to `head`. `changed` lists all entries that changed after revision `since`, for which a
   * snapshot of the same fold is stored; if `since` is -1, it lists all entries.
   * @returns false if nothing was saved, because a newer fold made the stored snapshot, or because the snapshot at `since` was
   * deleted
   */
  save(
    stream: string,
    snapshot: Omit<Snapshot, 'entries'>,
    changed: ReadonlyMap<string, Entry>,
    since: number,
  ): Promise<boolean>;
  /** Removes a stream's snapshot. */
  forget(stream: string): Promise<void>;
}

/** The outcome of a command; `wrote` is undefined if nothing needed to be written. */
export interface Done<T = void> {
  readonly result: T;
  readonly wrote: Wrote | undefined;
}

/** Metadata that a command's events share: everything except their version, time, owner and place in the append. */
export type MetadataBase = Omit<EventMetadata, 'schema_version' | 'recorded_at' | 'append' | 'owner'>;

/** Returns a credential in the form used in events. Its project is the caller's, even in a record of another project. */
export function toEventCredential({ calls: { project, credential } }: Caller): EventMetadata['credential'] {
  switch (credential.kind) {
    case 'api_key':
      return { kind: 'api_key', ...project, key_id: credential.keyId };
    case 'client':
      return { kind: 'client', ...project, application: credential.applicationId };
    case 'grant': {
      const { applicationId: application, grantId: grant_id } = credential;
      return { kind: 'grant', ...project, application, grant_id };
    }
    case 'member':
      return { kind: 'id_token', issuer: credential.issuer, subject: credential.subject, ...project };
    case 'shared_link':
      throw new TypeError('a shared link writes nothing');
    case 'person':
      return { kind: 'id_token', issuer: credential.issuer, subject: credential.subject };
  }
}

/** Returns the metadata that all events of a command share. */
export function metadataBase(ctx: CommandContext, transactionId?: string): MetadataBase {
  const { caller, authorship } = ctx;
  return {
    request_id: ctx.requestId,
    command_id: ctx.ids.seed,
    credential: toEventCredential(caller),
    author: {
      type: authorship.authorType,
      ...(authorship.model === undefined ? {} : { model: authorship.model }),
      ...(authorship.authorRef === undefined ? {} : { reference: authorship.authorRef }),
      ...(authorship.authorName === undefined ? {} : { display: authorship.authorName }),
      ...(authorship.authorIdentifier === undefined ? {} : { identifier: authorship.authorIdentifier }),
    },
    ...(authorship.actingAs === undefined ? {} : { acting_as: authorship.actingAs }),
    ...(authorship.actingName === undefined ? {} : { acting_as_display: authorship.actingName }),
    ...(authorship.actingIdentifier === undefined
      ? {}
      : { acting_as_identifier: authorship.actingIdentifier }),
    ...(authorship.onBehalfOf === undefined ? {} : { on_behalf_of: { ...authorship.onBehalfOf } }),
    ...(authorship.organization === undefined ? {} : { organization: authorship.organization }),
    ...(authorship.sourceSystem === undefined ? {} : { source_system: authorship.sourceSystem }),
    ...(authorship.originId === undefined ? {} : { origin_id: authorship.originId }),
    ...(transactionId === undefined ? {} : { transaction_id: transactionId }),
  };
}
