/** The dependencies of the write side. */
import type { DomainEvent } from '#src/events/catalog.ts';
import type { EventMetadata } from '#src/events/metadata.ts';
import type { Position } from '#src/events/store.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import type {
  CommandContext,
  CriteriaLocks,
  Located,
  Lookup,
  MetadataBase,
  WriteResult,
} from '../command.ts';
import type { Streams } from '../kernel/streams.ts';
import type { Contents, Settled, Unsettled } from './contents.ts';
import type { PlacedWrite } from './decide.ts';
import type { Resources } from './state.ts';

/** The dependencies of the write side; `app.ts` provides them. */
export interface WriteDeps {
  /** The streams of records and directories. */
  readonly resources: Streams<Resources>;
  readonly lookup: Lookup;
  readonly locks: CriteriaLocks;
  /** Waits until reads reflect a position; its result is for the HTTP layer. */
  readonly settle: (position: Position) => Promise<unknown>;
  readonly contents: Contents;
  /** Processes document attachments (`commands/document/`). */
  readonly attachments: Attachments;
  /** Completes the append of directory entries that an event carries (`commands/directory/carry.ts`). */
  readonly completeCarried: (carrying: Carrying, now: () => number) => Promise<Completed>;
  /** Finds the targets of references, searching this process's memory first (`known.ts`). */
  readonly locate: (
    ctx: CommandContext,
    ids: ReadonlySet<string>,
    patients: readonly string[],
    versions: ReadonlyMap<string, number>,
  ) => Promise<ReadonlyMap<string, Located>>;
  /** Returns true if a project contains only a person's own record (docs/spec/decisions.md, section 9). */
  readonly isPersonal: (owner: Tenant) => Promise<boolean>;
  /** FHIR base URLs of this service, each with a trailing slash; absolute references below them are local. */
  readonly bases: readonly string[];
}

/** Results by request index. */
export type Results = Map<number, WriteResult>;

/** Processes the bytes of document attachments. */
export interface Attachments {
  /**
   * Removes the bytes from a document, so that they can be stored separately. Pure.
   * @throws Refusal 409 422
   */
  readonly settle: (unsettled: Unsettled) => Settled;
  /**
   * Stores the bytes that writes need, then appends; if the append is refused, removes the bytes.
   * @throws Refusal 409
   */
  readonly store: <T>(
    ctx: CommandContext,
    writes: readonly PlacedWrite[],
    append: () => Promise<T>,
  ) => Promise<T>;
}

/**
 * An event that carries directory entries, already written or about to be appended; its `metadata` names the author and the
 * tenant.
 */
export interface Carrying {
  readonly metadata: MetadataBase & Partial<EventMetadata & { readonly hash: string }>;
  readonly event: DomainEvent;
}

/** A result for each directory entry that was missing, and the position of the append. */
export interface Completed {
  readonly results: readonly WriteResult[];
  readonly position: Position | undefined;
}
