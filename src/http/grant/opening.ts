/** What routes and interactions state about access tokens of grants. */
import type { Letters } from '#src/shared/access.ts';

/** Letters that a request needs on a type (docs/spec/decisions.md, section 9, "Letters"). */
export interface Need {
  readonly type: string;
  readonly letters: Letters;
}

/** What a request that takes an access token of a grant needs of it, and what the access log says of it. */
export interface Opening {
  /** The interaction, such as `read` or `search-type`. */
  readonly action: string;
  /**
   * Without them the request is refused, naming the type. A request about all types has none: it leaves out those that
   * lack a letter.
   */
  readonly needs: readonly Need[];
  /** The type that is asked for; null if there isn't one. */
  readonly type: string | null;
  /** The id that is asked for, a Patient's real one; null if there isn't one. */
  readonly id: string | null;
  /** Its parts are reads with entries of their own: a Bundle. */
  readonly inParts?: true;
  /** It writes: it is a read as far as it is told so (`GrantPass.searched`, `GrantPass.shows`). */
  readonly writes?: true;
}

/** Whether an access token of a grant is taken, and what it needs. There is no default. */
export type GrantToken = 'refused' | Opening;
