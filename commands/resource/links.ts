/** Links inside a transaction Bundle: fullUrls become the references of what they stand for, searches become ids. */
import { bareCriteria } from '#src/fhir/bundle.ts';
import { parseReference } from '#src/fhir/references.ts';
import { rewriteReferences } from '#src/fhir/rewrite.ts';
import { isResourceType, type ResourceType } from '#src/fhir/types.ts';
import { isObject, type Json } from '#src/shared/json.ts';
import type { CommandContext, Lookup, SubmittedResource } from '../command.ts';
import { refuse, type WriteRequest } from './request.ts';
import type { Resolved } from './resolve.ts';

/**
 * What each `fullUrl` of a POST (also reached as `Type/id` when it ends so) stands for: `Type/new-id`.
 * @throws Refusal malformed when two entries share a fullUrl.
 */
export function fullUrlMap(resolved: readonly Resolved[]): Map<string, string> {
  const map = new Map<string, string>();
  for (const { request, type, id, kind } of resolved) {
    const { fullUrl } = request;
    if (fullUrl === undefined || kind === 'nothing') continue;
    if (map.has(fullUrl))
      throw refuse(
        'malformed',
        request,
        'duplicate',
        `another entry has the fullUrl ${fullUrl.slice(0, 200)}`,
      );
    map.set(fullUrl, `${type}/${id}`);
    const tail = new RegExp(`(?:^|/)(${type}/[A-Za-z0-9.-]{1,64})$`).exec(fullUrl)?.[1];
    if (tail !== undefined && !map.has(tail)) map.set(tail, `${type}/${id}`);
  }
  return map;
}

/** A copy of a resource with the Bundle's links replaced (never in canonicals). */
export function relink(
  resource: SubmittedResource,
  type: ResourceType,
  map: ReadonlyMap<string, string>,
): SubmittedResource {
  if (map.size === 0) return resource;
  return { value: rewriteReferences(resource.value, type, (text) => map.get(text)), exact: resource.exact };
}

/** The searches that stand as references (`Patient?identifier=…`) in these resources, each once. */
export function conditionalReferences(
  resources: readonly SubmittedResource[],
  bases: readonly string[],
): string[] {
  const found = new Set<string>();
  const walk = (value: Json): void => {
    if (Array.isArray(value)) value.forEach(walk);
    else if (isObject(value)) {
      const { reference } = value;
      if (
        typeof reference === 'string' &&
        reference.includes('?') &&
        parseReference(reference, bases).kind === 'conditional'
      ) {
        found.add(reference);
      }
      Object.values(value).forEach(walk);
    }
  };
  for (const resource of resources) walk(resource.value);
  return [...found];
}

/** Splits `Type?criteria`. */
export function splitConditional(reference: string): { type: ResourceType; criteria: string } | undefined {
  const [type, criteria = ''] = [
    reference.slice(0, reference.indexOf('?')),
    reference.slice(reference.indexOf('?') + 1),
  ];
  return isResourceType(type) ? { type, criteria: bareCriteria(criteria, type) } : undefined;
}

/**
 * Finds what conditional references stand for: what exists, or what the same Bundle creates with that identifier.
 * @throws Refusal invalid (422) without a match, precondition_failed (412) with several.
 */
export async function resolveConditionalReferences(
  ctx: CommandContext,
  lookup: Lookup,
  references: readonly string[],
  resolved: readonly Resolved[],
): Promise<Map<string, string>> {
  const found = await Promise.all(
    references.map(async (reference): Promise<[string, string]> => {
      const parts = splitConditional(reference);
      const matches = new Set<string>();
      if (parts !== undefined) {
        const removed = new Set(resolved.filter(({ kind }) => kind === 'remove').map(({ id }) => id));
        for (const id of await lookup.match(ctx.caller, parts.type, parts.criteria))
          if (!removed.has(id)) matches.add(id);
        for (const one of resolved)
          if (one.kind === 'create' && one.type === parts.type && hasIdentifier(one.request, parts.criteria))
            matches.add(one.id);
      }
      const [match] = matches;
      if (match === undefined || matches.size > 1) {
        const several = matches.size > 1;
        const what = reference.slice(0, 200);
        const owner = resolved.find(({ request }) => mentions(request, reference))?.request ?? {};
        throw several
          ? refuse(
              'precondition_failed',
              owner,
              'multiple-matches',
              `several resources match the reference ${what}`,
            )
          : refuse('invalid', owner, 'value', `nothing matches the reference ${what}`);
      }
      return [reference, `${parts?.type}/${match}`];
    }),
  );
  return new Map(found);
}

function mentions({ resource }: WriteRequest, reference: string): boolean {
  return resource !== undefined && conditionalReferences([resource], []).includes(reference);
}

/** Whether a resource of the Bundle bears the identifier of `identifier=system|value`; other criteria ask the read model only. */
function hasIdentifier({ resource }: WriteRequest, criteria: string): boolean {
  const wanted = [...new URLSearchParams(criteria)];
  const [only] = wanted;
  if (wanted.length !== 1 || only?.[0] !== 'identifier') return false;
  const bar = only[1].indexOf('|');
  const [system, value] = bar < 0 ? [undefined, only[1]] : [only[1].slice(0, bar), only[1].slice(bar + 1)];
  const identifiers = resource?.value.identifier;
  return (
    Array.isArray(identifiers) &&
    identifiers.some(
      (one) =>
        isObject(one) && one.value === value && (system === undefined || (one.system ?? '') === system),
    )
  );
}
