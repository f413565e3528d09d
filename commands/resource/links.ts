/** Resolves links inside a transaction Bundle: replaces a fullUrl with a reference to its target. Pure. */

import type { Patch } from '#src/fhir/patch/patch.ts';
import { rewriteReferences } from '#src/fhir/rewrite.ts';
import { cut } from '#src/shared/cut.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import type { SubmittedResource } from '../command.ts';
import { refuse, type WriteRequest } from './request.ts';
import type { Resolved } from './resolve.ts';

/** The targets of a Bundle's links. */
export interface Links {
  /** Absolute fullUrl or conditional reference → `Type/id`. */
  readonly urls: ReadonlyMap<string, string>;
  /** `Type/id` at the end of a fullUrl → the targets that it may refer to. */
  readonly tails: ReadonlyMap<string, ReadonlySet<string>>;
}

const TAIL = /^(.*\/)?([A-Z][A-Za-z]*\/[A-Za-z0-9.-]{1,64})$/;

/**
 * Returns the links that a Bundle's fullUrls define.
 * @param searches conditional references, already resolved
 * @throws Refusal malformed if two entries have the same fullUrl
 */
export function makeLinks(resolved: readonly Resolved[], searches: ReadonlyMap<string, string>): Links {
  const urls = new Map(searches);
  const tails = new Map<string, Set<string>>();
  for (const { request, type, id, kind } of resolved) {
    const { fullUrl } = request;
    if (fullUrl === undefined || kind === 'nothing') continue;
    if (urls.has(fullUrl)) {
      throw refuse('malformed', request, 'duplicate', `another entry has the fullUrl ${cut(fullUrl, 200)}`);
    }
    urls.set(fullUrl, `${type}/${id}`);
    const tail = TAIL.exec(fullUrl)?.[2];
    if (tail !== undefined) tails.set(tail, (tails.get(tail) ?? new Set()).add(`${type}/${id}`));
  }
  return { urls, tails };
}

/**
 * Returns a copy of an entry's resource with the Bundle's links replaced, except in canonicals. A relative reference is
 * resolved against the base of the entry's own fullUrl (https://hl7.org/fhir/R4/bundle.html#references). If that finds
 * nothing, the reference resolves to the only entry whose fullUrl ends with it.
 * @throws Refusal invalid (422) if a reference matches several entries
 */
export function relink(
  resource: SubmittedResource,
  type: string,
  links: Links,
  request: WriteRequest,
): SubmittedResource {
  if (links.urls.size === 0) return resource;
  const replacement = replacementFor(links, request);
  return { ...resource, value: rewriteReferences(resource.value, type, replacement) };
}

/**
 * Returns a patch with the links in its values replaced. A JSON Patch contains no types, so only `reference` members and urns
 * count as links.
 */
export function relinkPatch(patch: Patch, links: Links, request: WriteRequest): Patch {
  if (patch.format !== 'json-patch' || links.urls.size === 0) return patch;
  const replacement = replacementFor(links, request);
  const operations = patch.operations.map((operation) =>
    'value' in operation && operation.value !== undefined
      ? {
          ...operation,
          value: relinkValue(operation.value, operation.path.at(-1) === 'reference', replacement),
        }
      : operation,
  );
  return { ...patch, operations };
}

function relinkValue(
  value: Json,
  isReference: boolean,
  replacement: (text: string) => string | undefined,
): Json {
  if (typeof value === 'string') return (isReference ? replacement(value) : undefined) ?? value;
  if (Array.isArray(value)) return value.map((item) => relinkValue(item, false, replacement));
  if (!isObject(value)) return value;
  const copy: JsonObject = {};
  for (const [key, member] of Object.entries(value))
    copy[key] = relinkValue(member, key === 'reference', replacement);
  return copy;
}

function replacementFor({ urls, tails }: Links, request: WriteRequest): (text: string) => string | undefined {
  const base = TAIL.exec(request.fullUrl ?? '')?.[1];
  return (text) => {
    const known = urls.get(text) ?? (base === undefined ? undefined : urls.get(base + text));
    if (known !== undefined) return known;
    const meant = tails.get(text);
    if (meant === undefined) return undefined;
    const [only, another] = meant;
    if (another === undefined) return only;
    throw refuse(
      'invalid',
      request,
      'value',
      `several entries have a fullUrl that ends with ${text}; use the full URL`,
    );
  };
}
