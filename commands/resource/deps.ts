/** What the write side works with. */
import type { Position } from '#src/events/store.ts';
import type { CriteriaLocks, Lookup, WriteResult } from '../command.ts';
import type { Contents } from '../document/contents.ts';
import type { Streams } from '../kernel/streams.ts';
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
  /** FHIR base URLs, each with a slash at its end, under which an absolute reference is one of ours. */
  readonly bases: readonly string[];
}

/** Results by the index of their request. */
export type Results = Map<number, WriteResult>;
