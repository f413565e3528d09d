/** What the write side works with. */
import type { DomainEvent } from '#src/events/catalog.ts';
import type { EventMetadata } from '#src/events/metadata.ts';
import type { Position } from '#src/events/store.ts';
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

/** What the write side works with; `app.ts` hands it in. */
export interface WriteDeps {
  /** Records and directories. */
  readonly resources: Streams<Resources>;
  readonly lookup: Lookup;
  readonly locks: CriteriaLocks;
  /** Waits until reads show a position; what it answers is the HTTP layer's affair. */
  readonly visible: (position: Position) => Promise<unknown>;
  readonly contents: Contents;
  /** What is done with the bytes that documents come with (`commands/document/`). */
  readonly attachments: Attachments;
  /** Completes what an event that carries directory entries began (`commands/directory/carry.ts`). */
  readonly completeCarried: (carrying: Carrying, now: () => number) => Promise<Completed>;
  /** Finds what references name, first in what this process remembers (`known.ts`). */
  readonly locate: (
    ctx: CommandContext,
    ids: ReadonlySet<string>,
    patients: readonly string[],
    versions: ReadonlyMap<string, number>,
  ) => Promise<ReadonlyMap<string, Located>>;
  /** FHIR base URLs, each with a slash at its end, under which an absolute reference is one of ours. */
  readonly bases: readonly string[];
}

/** Results by the index of their request. */
export type Results = Map<number, WriteResult>;

/** What is done with the bytes that documents come with. */
export interface Attachments {
  /** Takes the bytes out of a document. Pure. @throws Refusal 409 422 */
  readonly settle: (unsettled: Unsettled) => Settled;
  /** Stores the bytes of writes, then appends; what a refused append leaves is removed. @throws Refusal 409 */
  readonly store: <T>(
    ctx: CommandContext,
    writes: readonly PlacedWrite[],
    append: () => Promise<T>,
  ) => Promise<T>;
}

/** A carrying event, or one about to be appended: its `metadata` says who wrote and whose directory it is. */
export interface Carrying {
  readonly metadata: MetadataBase & Partial<EventMetadata & { readonly hash: string }>;
  readonly event: DomainEvent;
}

/** A result for each directory entry that was missing, and the position of the append. */
export interface Completed {
  readonly results: readonly WriteResult[];
  readonly position: Position | undefined;
}
