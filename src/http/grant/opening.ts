/** The statements of routes and interactions about access tokens of grants. */
import type { Letters } from '#src/shared/access/access.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { outsideTypes, requireOnType } from '#src/shared/access/outside-grant.ts';

/** Letters that a request needs on a type (docs/spec/decisions.md, section 9, "Letters"). */
export interface Need {
  readonly type: string;
  readonly letters: Letters;
}

/** The requirements on a grant of a request that takes its access token, and the request's entry in the access log. */
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
  /** Set for a Bundle, whose parts are reads with their own entries. */
  readonly inParts?: true;
  /** It writes: it is a read only as far as it reports reads (`GrantPass.searched`, `GrantPass.shows`). */
  readonly writes?: true;
}

/** States whether an access token of a grant is accepted, and the requirements on the grant. There is no default. */
export type GrantToken = 'refused' | Opening;

/**
 * The interactions that a client whose scopes name types may use, each on the types that it needs; those without types
 * leave out what isn't covered. All others see or change more than one type.
 */
const BY_TYPE: ReadonlySet<string> = new Set([
  'read',
  'vread',
  'search-type',
  'search-compartment',
  'search-system',
  'history-instance',
  'history-type',
  'history-system',
  'create',
  'update',
  'patch',
  'delete',
  'bundle',
  'content',
  'labs-import',
  'series',
  'timeline',
  'terminology',
  '$everything',
  '$expand',
  '$lookup',
  '$subsumes',
  '$translate',
  '$validate-code',
]);

/**
 * Checks that a client whose scopes name types may make a request; every other caller may.
 * @param needs on types, where no token of a grant is taken
 * @throws Refusal forbidden (403) naming the type, or the scope for all types
 */
export function requireTypes({ sees }: Caller, token: RouteToken, needs?: readonly Need[]): void {
  if (sees.types === undefined) return;
  const needed = typeof token === 'string' ? needs : BY_TYPE.has(token.action) ? token.needs : undefined;
  if (needed === undefined) throw outsideTypes('a request about all types', 'system/*.cruds');
  for (const { type, letters } of needed) requireOnType(sees, type, letters);
}

/** The statements of any route. */
type RouteToken = 'refused' | 'ignored' | Pick<Opening, 'action' | 'needs'>;
