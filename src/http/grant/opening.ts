/** Declares how routes and interactions handle grants' access tokens. */
import type { Letters } from '#src/shared/access/access.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { outsideTypes, requireOnType } from '#src/shared/access/outside-grant.ts';

/** The letters that a request needs for a type (docs/spec/decisions.md, section 9, "Letters"). */
export interface Need {
  readonly type: string;
  readonly letters: Letters;
}

/** For a request that accepts a grant's access token: what it requires of the grant, and its entry in the access log. */
export interface Opening {
  /** The interaction, such as `read` or `search-type`. */
  readonly action: string;
  /**
   * Without these letters, the request is refused, and the refusal names the type. Empty for a request for all types, because
   * such a request leaves out types for which a letter is missing.
   */
  readonly needs: readonly Need[];
  /** The requested type; null if there isn't one. */
  readonly type: string | null;
  /** The requested id (for a Patient, the real one); null if there isn't one. */
  readonly id: string | null;
  /** Set for a Bundle, whose parts are reads with their own access-log entries. */
  readonly inParts?: true;
  /** Set for a write, which is logged as a read only if it reports reads (`GrantPass.searched`, `GrantPass.shows`). */
  readonly writes?: true;
}

/**
 * Declares whether a grant's access token is accepted and, if so, what is required of the grant. There is no default, so it
 * must be declared.
 */
export type GrantToken = 'refused' | Opening;

/**
 * The interactions that are allowed for a client whose scopes name types, if its scopes cover the types that the interactions
 * need. Interactions that need no particular type leave out whatever the scopes don't cover. All other interactions read or
 * change more than one type.
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
 * Checks that a client whose scopes name types may make a request. All other callers may.
 * @param needs the letters needed for types, on routes that refuse grants' tokens
 * @throws Refusal forbidden (403), which names the type, or the scope for all types
 */
export function requireTypes({ sees }: Caller, token: RouteToken, needs?: readonly Need[]): void {
  if (sees.types === undefined) return;
  const needed = typeof token === 'string' ? needs : BY_TYPE.has(token.action) ? token.needs : undefined;
  if (needed === undefined) throw outsideTypes('a request about all types', 'system/*.cruds');
  for (const { type, letters } of needed) requireOnType(sees, type, letters);
}

/** The part of a declaration that is common to all kinds of routes. */
type RouteToken = 'refused' | 'ignored' | Pick<Opening, 'action' | 'needs'>;
