/**
 * The write side's lookups in read models: the `Lookup` port of `commands/command.ts`, which `app.ts`
 * provides.
 */
import type { Pool } from 'pg';
import type { Terminology } from '#src/fhir/terminology.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { type DirectoryBodies, openDirectoryBodies } from './directory.ts';
import { type Locate, openLocate } from './locate.ts';
import { type Match, openMatch } from './match.ts';
import { type LoadUnwritten, type MatchUnwritten, openMatchUnwritten } from './match-unwritten.ts';
import { type OwnDocument, openOwnDocument } from './own-document.ts';
import { type GrantedQueries, openGranted } from './read-granted.ts';

/** The port's shape, repeated here because queries don't import commands. */
export interface LookupQueries {
  readonly locate: Locate;
  readonly match: Match;
  readonly matchUnwritten: MatchUnwritten;
  readonly directoryBodies: DirectoryBodies;
  readonly withinRecord: GrantedQueries['withinRecord'];
  readonly ownDocument: OwnDocument;
}

/**
 * Creates the lookups on a database.
 * @param base base URL of the FHIR interface, with a trailing slash
 * @param atHead resolves when the projection `resources` shows all resources of a type up to the log's current head
 * @param requireFresh throws Refusal unavailable (503) if that projection lags
 */
export function openLookup(
  pool: Pool,
  base: string,
  atHead: (type: ResourceType) => Promise<void>,
  terminology: Terminology,
  requireFresh: () => void,
  loadUnwritten: LoadUnwritten,
): LookupQueries {
  return {
    locate: unlessStale(openLocate(pool), requireFresh),
    match: openMatch(pool, base, atHead, terminology),
    matchUnwritten: openMatchUnwritten(pool, base, loadUnwritten, terminology),
    directoryBodies: openDirectoryBodies(pool, requireFresh),
    withinRecord: openGranted(pool).withinRecord,
    ownDocument: openOwnDocument(pool),
  };
}

/**
 * Returns a lookup that throws the error from `requireFresh` if it doesn't find an id that an acknowledged write may have
 * created. Otherwise a reference to a new resource would be refused as unknown.
 */
function unlessStale(locate: Locate, requireFresh: () => void): Locate {
  return async (caller, ids) => {
    // If the read model was already lagging before the rows were read, some rows may be missing.
    const lag = catchRefusal(requireFresh);
    const found = await locate(caller, ids);
    if (lag !== undefined && ids.some((id) => !found.has(id))) throw lag;
    return found;
  };
}

function catchRefusal(check: () => void): unknown {
  try {
    check();
    return undefined;
  } catch (error) {
    return error;
  }
}
