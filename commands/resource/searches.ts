/** Searches that stand as references in a transaction (https://hl7.org/fhir/R4/http.html#trules): found, or refused. */
import { bareCriteria } from '#src/fhir/bundle.ts';
import { parseReference } from '#src/fhir/references.ts';
import { isResourceType, type ResourceType } from '#src/fhir/types.ts';
import { isObject, type Json } from '#src/shared/json.ts';
import { type Issue, Refusal } from '#src/shared/refusal.ts';
import type { CommandContext, Lookup, SubmittedResource } from '../command.ts';
import { atEntry, refuse, resourcesOf, type WriteRequest } from './request.ts';
import type { Resolved } from './resolve.ts';

/** The searches that stand as references (`Patient?identifier=…`) in these resources, each once. */
export function searchReferences(
  resources: readonly SubmittedResource[],
  bases: readonly string[],
): string[] {
  const found = new Set<string>();
  const walk = (value: Json): void => {
    if (Array.isArray(value)) value.forEach(walk);
    else if (isObject(value)) {
      const { reference } = value;
      if (typeof reference === 'string' && isSearch(reference, bases)) found.add(reference);
      Object.values(value).forEach(walk);
    }
  };
  for (const resource of resources) walk(resource.value);
  return [...found];
}

function isSearch(reference: string, bases: readonly string[]): boolean {
  return reference.includes('?') && parseReference(reference, bases).kind === 'conditional';
}

/** Type and criteria of such a search; undefined for a type that is not one of the 26. */
export function searchIn(
  reference: string,
  bases: readonly string[],
): { type: ResourceType; criteria: string } | undefined {
  const parsed = parseReference(reference, bases);
  if (parsed.kind !== 'conditional' || !isResourceType(parsed.type)) return undefined;
  return { type: parsed.type, criteria: bareCriteria(parsed.query, parsed.type) };
}

/**
 * Finds what the searches stand for. They come last in R4's order: what the Bundle deletes is gone, what it creates or
 * replaces is there as it will be (by its identifiers; other criteria ask the read model alone).
 * @returns search → `Type/id`.
 * @throws Refusal invalid (422) naming every search without a match, precondition_failed (412) for several matches.
 */
export async function resolveSearches(
  ctx: CommandContext,
  lookup: Lookup,
  bases: readonly string[],
  resolved: readonly Resolved[],
): Promise<Map<string, string>> {
  const requests = resolved.map(({ request }) => request);
  const references = searchReferences(resourcesOf(requests), bases);
  if (references.length === 0) return new Map();
  const rewritten = resolved.filter(
    ({ kind, request }) => kind === 'remove' || (kind === 'update' && request.resource),
  );
  const except = rewritten.map(({ id }) => id);
  const found = new Map<string, string>();
  const unmatched: Issue[] = [];
  await Promise.all(
    references.map(async (reference) => {
      const owner = requests.find((request) => mentions(request, reference, bases)) ?? {};
      const search = searchIn(reference, bases);
      const matches =
        search === undefined ? [] : await matching(ctx, lookup, search, resolved, except, owner);
      const [match, second] = matches;
      const what = reference.slice(0, 200);
      if (second !== undefined) {
        throw refuse(
          'precondition_failed',
          owner,
          'multiple-matches',
          `several resources match the reference ${what}`,
        );
      }
      if (match === undefined)
        unmatched.push(...refuse('invalid', owner, 'value', `nothing matches the reference ${what}`).issues);
      else found.set(reference, `${search?.type}/${match}`);
    }),
  );
  if (unmatched.length > 0) throw new Refusal('invalid', unmatched);
  return found;
}

async function matching(
  ctx: CommandContext,
  lookup: Lookup,
  { type, criteria }: { type: ResourceType; criteria: string },
  resolved: readonly Resolved[],
  except: readonly string[],
  owner: Pick<WriteRequest, 'at'>,
): Promise<string[]> {
  try {
    const matches = new Set(await lookup.match(ctx.caller, type, criteria, except));
    for (const one of resolved) {
      const written = one.kind === 'create' || one.kind === 'update';
      if (written && one.type === type && hasIdentifier(one.request, criteria)) matches.add(one.id);
    }
    return [...matches];
  } catch (error) {
    throw error instanceof Refusal ? atEntry(owner.at, error) : error;
  }
}

function mentions(request: WriteRequest, reference: string, bases: readonly string[]): boolean {
  return searchReferences(resourcesOf([request]), bases).includes(reference);
}

/** Whether a resource of the Bundle bears the identifier of `identifier=system|value`. */
function hasIdentifier({ resource }: WriteRequest, criteria: string): boolean {
  const [only, another] = new URLSearchParams(criteria);
  if (another !== undefined || only?.[0] !== 'identifier') return false;
  const bar = only[1].indexOf('|');
  const [system, value] = bar < 0 ? [undefined, only[1]] : [only[1].slice(0, bar), only[1].slice(bar + 1)];
  const { identifier, masterIdentifier } = resource?.value ?? {};
  return [...(Array.isArray(identifier) ? identifier : []), masterIdentifier].some(
    (one) => isObject(one) && one.value === value && (system === undefined || (one.system ?? '') === system),
  );
}
