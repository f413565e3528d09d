/** The dependencies of the commands on proposals. */
import type { Position } from '#src/events/store.ts';
import type { Access } from '#src/shared/access/access.ts';
import type { WriteDeps } from '../resource/deps.ts';

/** Dependencies of the commands. */
export interface ProposalDeps extends WriteDeps {
  /** Returns the access that the given scopes of a grant allow. */
  readonly parseAccess: (scopes: readonly string[]) => Access;
  /**
   * Returns whether an application, its project and the record's project exist: if one of them was deleted, a grant allows
   * nothing, even if the grant's end hasn't been written yet.
   */
  readonly isOpen: (applicationId: string, recordProject: string) => Promise<boolean>;
  /** Waits until the read models that show proposals and resources reach a position; returns false if that takes too long. */
  readonly awaitModels: (position: Position) => Promise<boolean>;
}
