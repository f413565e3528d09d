/**
 * Checks whether a grant allows an application's write (docs/spec/decisions.md, section 9: "Letters", "Categories", "Writes
 * under a grant"). Without a grant, everything is allowed. Pure.
 * `c`, `u` and `d` are checked three times: for the type before anything is looked up, then on the current version, then on
 * the new version. A condition needs `s`. If the grant has none of `ruds` on a resource's current version, the response is the
 * same as for an unknown id. The grant itself is checked in the decision, because it is part of the record: no write is
 * appended after the grant's revocation.
 */

import { recordPatient, recordStream } from '#src/events/streams.ts';
import { readCategories } from '#src/fhir/search/categories.ts';
import { type ResourceType, typeEntry } from '#src/fhir/types.ts';
import { allows, categoriesFor, type Letters } from '#src/shared/access/access.ts';
import type { Caller, Granted, Sees } from '#src/shared/access/caller.ts';
import { ENDED_TOKEN, invalidToken } from '#src/shared/access/ended-token.ts';
import { outsideGrant, requireLetters, requireOnType } from '#src/shared/access/outside-grant.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Located } from '../command.ts';
import { atEntry, refuse, runForEntry, type WriteRequest } from './request.ts';
import { findEntry, type Resources } from './state.ts';

/** A letter that a write needs. */
export type WriteLetter = 'c' | 'u' | 'd';

const LETTER_OF = { POST: 'c', PUT: 'u', PATCH: 'u', DELETE: 'd' } as const;

/** Returns the letter that a request needs. */
export function neededLetter({ method, letter }: WriteRequest): WriteLetter {
  return letter ?? LETTER_OF[method];
}

/**
 * Checks the types in requests against a grant, or against the types that a client's scopes name. Nothing is looked up for a
 * request that no resource could satisfy.
 * @param transaction true for a transaction Bundle, which may repeat directory entries unchanged
 * @throws Refusal forbidden (403) for a type without the letter, a condition on a type without `s`, a new Patient, and
 * directory changes
 */
export function requireTypes(
  sees: Pick<Sees, 'within' | 'types'>,
  requests: readonly WriteRequest[],
  transaction: boolean,
): void {
  const { within, types } = sees;
  if (types !== undefined)
    for (const request of requests) {
      const letters = neededLetter(request) + (request.criteria === undefined ? '' : 's');
      runForEntry(request.at, () => requireOnType(sees, request.type, letters));
    }
  if (within === undefined) return;
  for (const request of requests) {
    const { type, method, criteria, at } = request;
    runForEntry(at, () => {
      if (type === 'Patient' && method === 'POST') throw noNewPatient();
      if (typeEntry(type).home !== 'directory') requireLetters(within, type, neededLetter(request));
      else if (!transaction && (method !== 'POST' || at === undefined)) throw closedDirectory();
      if (criteria !== undefined) requireLetters(within, type, 's');
    });
  }
}

/** Letters that allow an application to learn that a resource exists, in addition to the write's own letters. */
const LEARNS = 'ruds';

/** Returns true if a grant may have a letter for only some of a type's resources. */
export function isLimited({ access }: Granted, type: ResourceType): boolean {
  return [...'c', ...LEARNS].some((letter) => {
    const limits = categoriesFor(access, type, letter);
    return limits !== 'all' && limits.length > 0;
  });
}

/**
 * Returns the letters that a grant has on a version of a resource other than a Provenance; empty if the version isn't visible.
 */
export function lettersOn({ access }: Granted, type: ResourceType, version: JsonObject): Letters {
  const categories = readCategories(type, version);
  return [...LEARNS].filter((letter) => allows(access, type, letter, categories)).join('');
}

/**
 * Checks that a grant allows a conditional update to create a resource if it finds none.
 * @throws Refusal forbidden (403)
 */
export function requireCreation(within: Granted, { type, method }: WriteRequest): void {
  if (method === 'POST') return;
  if (type === 'Patient') throw noNewPatient();
  if (typeEntry(type).home !== 'directory') requireLetters(within, type, 'c');
}

/**
 * Checks that a grant has a write's letter on the stored version.
 * @param before the stored version, if the type is limited to categories
 * @throws Refusal forbidden (403)
 */
export function requireBefore(
  within: Granted,
  request: WriteRequest,
  { type, stream, letters = '' }: Located,
  before: JsonObject | undefined,
): void {
  const letter = neededLetter(request);
  if (recordPatient(stream) === undefined) throw atEntry(request.at, closedDirectory());
  const isAllowed =
    before === undefined || type === 'Provenance'
      ? letters.includes(letter) || letter === 'c'
      : allows(within.access, type, letter, readCategories(type, before));
  if (!isAllowed) throw atEntry(request.at, outsideGrant(type, letter));
}

/**
 * Checks that the new version is in the granted record, and that a grant has the write's letter on it. Directory entries are
 * checked where they are appended.
 * @param letter `c` if the request creates a resource
 * @throws Refusal forbidden (403)
 */
export function requireAfter(
  within: Granted,
  request: WriteRequest,
  letter: WriteLetter,
  stream: string,
  type: ResourceType,
  after: JsonObject,
): void {
  if (recordPatient(stream) === undefined) {
    if (request.at === undefined) throw closedDirectory();
    return;
  }
  // References are checked earlier: references to other records have no target.
  if (stream !== recordStream(within.record)) throw new TypeError(`${stream} is outside the grant`);
  if (allows(within.access, type, letter, readCategories(type, after))) return;
  const what = `the ${type} would be outside the grant: ${describeScopes(within, type, letter)}`;
  throw refuse('forbidden', request, 'forbidden', what);
}

function describeScopes({ access }: Granted, type: ResourceType, letter: WriteLetter): string {
  const limits = categoriesFor(access, type, letter);
  if (limits === 'all' || limits.length === 0) return `the grant lacks patient/${type}.${letter}`;
  const texts = limits.map(({ system, code }) => (system === undefined ? code : `${system}|${code}`));
  return `it must have the category ${texts.join(' or ')}`;
}

/** Returns the ids of the grants that a decision reads; none if a person is accepting an application's proposal. */
export function grantIds({ calls: { credential }, sees }: Caller): string[] {
  return credential.kind === 'grant' && sees.within !== undefined ? [credential.grantId] : [];
}

/**
 * Checks that a caller's grant hasn't ended.
 * @param state the granted record's state
 * @throws Refusal unauthenticated (401)
 */
export function requireActiveGrant(state: Readonly<Resources>, caller: Caller): void {
  for (const id of grantIds(caller))
    if (findEntry(state, id)?.deleted !== false) throw invalidToken(ENDED_TOKEN);
}

function noNewPatient(): Refusal {
  return new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics: 'under a grant no Patient can be created: the grant is for one record',
  });
}

function closedDirectory(): Refusal {
  return new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics:
      'under a grant the directory cannot be written: refer to an existing entry, or name the person or organization with display and identifier',
  });
}
