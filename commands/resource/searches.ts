/**
 * Replaces the links between a transaction's entries, and resolves or refuses its conditional references
 * (https://hl7.org/fhir/R4/http.html#trules).
 */

import { directoryStream, recordStream } from '#src/events/streams.ts';
import { bareCriteria } from '#src/fhir/bundle.ts';
import { elementPath } from '#src/fhir/element-path.ts';
import { findOwner, parseReference } from '#src/fhir/references/references.ts';
import { isResourceType, type ResourceType } from '#src/fhir/types.ts';
import type { Unwritten } from '#src/fhir/unwritten.ts';
import { cut } from '#src/shared/cut.ts';
import type { Issue } from '#src/shared/issue.ts';
import { isObject, type Json, printJson } from '#src/shared/json/json.ts';
import { inSlices, mapSteps, type Steps } from '#src/shared/load/slices.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { CommandContext, Lookup } from '../command.ts';
import type { WriteDeps } from './deps.ts';
import { type Links, makeLinks, relink, relinkPatch } from './links.ts';
import { issuesAt, listResources, readEntryPatch, type WriteRequest } from './request.ts';
import type { Resolved } from './resolve.ts';
import { refuseSearch } from './write-only.ts';

/** Replaces links between entries; conditional references are resolved last, as R4 requires. */
export async function linkEntries(
  deps: Pick<WriteDeps, 'lookup' | 'bases'>,
  ctx: CommandContext,
  resolved: readonly Resolved[],
): Promise<Resolved[]> {
  const links = makeLinks(resolved, await resolveSearches(ctx, deps.lookup, deps.bases, resolved));
  const linked = mapSteps(resolved, (one) => {
    const { request, type } = one;
    const { resource, patchSource } = request;
    if (resource !== undefined)
      return { ...one, request: { ...request, resource: relink(resource, type, links, request) } };
    if (patchSource === undefined) return one;
    const linked = relink(patchSource, String(patchSource.value.resourceType), links, request);
    const patch = relinkPatch(readEntryPatch(request, linked), links, request);
    return { ...one, request: { ...request, patch } };
  });
  return inSlices(linked);
}

/** A conditional reference (`Patient?identifier=…`): the first place where it occurs, and the search that it contains. */
interface SearchReference {
  readonly owner: WriteRequest;
  /** FHIRPath within the owner's resource. */
  readonly path: string;
  /** Undefined if the type isn't supported. */
  readonly search: Search | undefined;
}

interface Search {
  readonly type: ResourceType;
  readonly criteria: string;
}

/**
 * Returns the conditional references in a transaction's entries, keyed by their text; one step per resource.
 * @throws Refusal malformed (400) for criteria that can't be decoded
 */
export function* searchReferences(
  requests: readonly WriteRequest[],
  bases: readonly string[],
): Steps<Map<string, SearchReference>> {
  const found = new Map<string, SearchReference>();
  for (const owner of requests) {
    const steps: (string | number)[] = [];
    const into = (step: string | number, value: Json): void => {
      steps.push(step);
      walk(value);
      steps.pop();
    };
    const walk = (value: Json): void => {
      if (Array.isArray(value)) for (const [index, item] of value.entries()) into(index, item);
      else if (isObject(value)) {
        const { reference } = value;
        if (typeof reference === 'string' && !found.has(reference) && isSearch(reference, bases)) {
          const path = stepsPath(owner.type, [...steps, 'reference']);
          const search = inPlace(owner, path, () => searchIn(reference, bases));
          found.set(reference, { owner, path, search });
        }
        for (const key in value) into(key, value[key] ?? null);
      }
    };
    yield* mapSteps(listResources([owner]), (resource) => walk(resource.value));
  }
  return found;
}

function stepsPath(type: string, steps: readonly (string | number)[]): string {
  return elementPath(
    steps.reduce<string>((path, step) => path + (typeof step === 'number' ? `[${step}]` : `.${step}`), type),
  );
}

/** Runs work on a reference, so that a refusal names where the reference is. */
function inPlace<T>(owner: WriteRequest, path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof Refusal ? placed(owner, path, error) : error;
  }
}

function placed({ at }: WriteRequest, path: string, { kind, issues, headers }: Refusal): Refusal {
  return new Refusal(
    kind,
    issuesAt(
      at,
      issues.map((issue) => ({ ...issue, expression: path })),
    ),
    headers,
  );
}

function isSearch(reference: string, bases: readonly string[]): boolean {
  return reference.includes('?') && parseReference(reference, bases).kind === 'conditional';
}

/** Returns the type and criteria of a conditional reference; undefined if the type isn't one of the 26 supported types. */
function searchIn(reference: string, bases: readonly string[]): Search | undefined {
  const parsed = parseReference(reference, bases);
  if (parsed.kind !== 'conditional' || !isResourceType(parsed.type)) return undefined;
  return { type: parsed.type, criteria: bareCriteria(parsed.query, parsed.type) };
}

/** The maximum number of distinct searches per transaction: each search queries the database. */
const MAX_SEARCHES = 1_000;

/**
 * Resolves conditional references. As R4 requires, they are resolved last: resources that the Bundle deletes don't match, and
 * resources that it creates or replaces are matched by their new content.
 * @returns search → `Type/id`
 * @throws Refusal forbidden (403) for a caller without the scope `read`, or under a grant without `s` on a searched type;
 * invalid (422) naming every search without a match; precondition_failed (412) for several matches; too_large (413) for more
 * than a thousand searches
 */
async function resolveSearches(
  ctx: CommandContext,
  lookup: Lookup,
  bases: readonly string[],
  resolved: readonly Resolved[],
): Promise<Map<string, string>> {
  const owners = await inSlices(
    searchReferences(
      resolved.map(({ request }) => request),
      bases,
    ),
  );
  if (owners.size === 0) return new Map();
  for (const { owner, search } of owners.values()) refuseSearch(ctx.caller, owner, search?.type);
  if (owners.size > MAX_SEARCHES) {
    const diagnostics = `a transaction can have at most ${MAX_SEARCHES} different searches as references, but this one has ${owners.size}`;
    throw new Refusal('too_large', { code: 'too-long', diagnostics });
  }
  const identifiers = identifiersIn(resolved);
  const rewritten = resolved.filter(
    ({ kind, request }) => kind === 'remove' || (kind === 'update' && request.resource),
  );
  const except = rewritten.map(({ id }) => id);
  const others = await matchOwn(ctx, lookup, bases, resolved, [...owners.values()]);
  const found = new Map<string, string>();
  const unmatched: Issue[] = [];
  await Promise.all(
    [...owners].map(async ([reference, { owner, path, search }]) => {
      const what = cut(reference, 200);
      const matches = new Set<string>();
      if (search !== undefined) {
        const { type, criteria } = search;
        const stored = await lookup.match(ctx.caller, type, criteria, except).catch((error: unknown) => {
          throw error instanceof Refusal ? placed(owner, path, error) : error;
        });
        ctx.searched?.(type, criteria, stored.length);
        const own =
          identifiers.get(`${type}?${identifierIn(criteria)}`) ?? others.get(`${type}?${criteria}`) ?? [];
        for (const id of [...stored, ...own]) matches.add(id);
      }
      const [match, second] = matches;
      const issue = (code: Issue['code'], diagnostics: string): Issue[] =>
        issuesAt(owner.at, [{ code, diagnostics, expression: path }]);
      if (second !== undefined)
        throw new Refusal(
          'precondition_failed',
          issue('multiple-matches', `several resources match the reference ${what}; it must match one`),
        );
      if (match !== undefined) found.set(reference, `${search?.type}/${match}`);
      else unmatched.push(...issue('value', `no resource matches the reference ${what}`));
    }),
  );
  if (unmatched.length > 0) throw new Refusal('invalid', unmatched);
  return found;
}

/** Returns the value in criteria that consist of a single `identifier=`; undefined for any other criteria. */
function identifierIn(criteria: string): string | undefined {
  const [only, another] = new URLSearchParams(criteria);
  return another === undefined && only?.[0] === 'identifier' ? only[1] : undefined;
}

/** Returns the resources that the Bundle creates or replaces, by `Type?system|value` and `Type?value`. */
function identifiersIn(resolved: readonly Resolved[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { kind, type, id, request } of resolved) {
    if (kind !== 'create' && kind !== 'update') continue;
    const { identifier, masterIdentifier } = request.resource?.value ?? {};
    for (const one of [...(Array.isArray(identifier) ? identifier : []), masterIdentifier]) {
      if (!isObject(one) || typeof one.value !== 'string') continue;
      const system = typeof one.system === 'string' ? one.system : '';
      for (const key of [`${type}?${system}|${one.value}`, `${type}?${one.value}`]) {
        found.set(key, (found.get(key) ?? new Set()).add(id));
      }
    }
  }
  return found;
}

/**
 * Finds resources that the Bundle creates or replaces, by criteria other than a single `identifier=`, in the same way as the
 * read model will find them.
 * @returns `Type?criteria` → at most two ids
 */
async function matchOwn(
  ctx: CommandContext,
  lookup: Lookup,
  bases: readonly string[],
  resolved: readonly Resolved[],
  references: readonly SearchReference[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const searches = new Map<string, Search>();
  for (const { search } of references)
    if (search !== undefined && identifierIn(search.criteria) === undefined)
      searches.set(`${search.type}?${search.criteria}`, search);
  const types = new Set([...searches.values()].map(({ type }) => type));
  const own = resolved.filter(
    ({ kind, type }) => (kind === 'create' || kind === 'update') && types.has(type),
  );
  if (own.length === 0) return new Map();
  const links = makeLinks(resolved, new Map());
  const unwritten = await inSlices(mapSteps(own, (one) => describeUnwritten(ctx, one, links, bases)));
  const found = await lookup
    .matchUnwritten(ctx.caller, unwritten.flat(), [...searches.values()])
    .catch((error: unknown): (readonly string[])[] => {
      // `match` refuses the same criteria, and its refusal names where they are.
      if (error instanceof Refusal && error.kind === 'malformed') return [];
      throw error;
    });
  return new Map([...searches.keys()].map((key, n) => [key, found[n] ?? []]));
}

/**
 * Returns a resource in the form in which it will be stored; returns nothing if that form isn't known, or if there is only a
 * patch.
 */
function describeUnwritten(
  ctx: CommandContext,
  { request, type, id }: Resolved,
  links: Links,
  bases: readonly string[],
): Unwritten[] {
  if (request.resource === undefined) return [];
  const { value, exact } = relink(request.resource, type, links, request);
  const place = findOwner(value, type, bases);
  const { owner } = ctx.caller.sees;
  const stream =
    'issue' in place || place.kind === 'targets'
      ? undefined
      : place.kind === 'directory'
        ? directoryStream(owner)
        : recordStream(place.kind === 'self' ? id : place.id);
  return stream === undefined ? [] : [{ id, type, stream, owner, body: printJson({ ...value, id }, exact) }];
}
