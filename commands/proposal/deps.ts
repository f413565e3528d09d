/** The dependencies of the commands on proposals. */
import type { Position } from '#src/events/store.ts';
import type { Access } from '#src/shared/access/access.ts';
import type { WriteDeps } from '../resource/deps.ts';

/** Dependencies of the commands. */
export interface ProposalDeps extends WriteDeps {
  /** Returns the access of a grant's scopes. */
  readonly parseAccess: (scopes: readonly string[]) => Access;
  /** Tells whether an application and its project exist: a grant of a deleted one allows nothing, though its end may not be written yet. */
  readonly isOpen: (applicationId: string) => Promise<boolean>;
  /** Waits until the read models that show proposals and resources pass a position; false when it takes too long. */
  readonly awaitModels: (position: Position) => Promise<boolean>;
}
