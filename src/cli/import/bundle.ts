/**
 * Reads bundles as sources: their entries, the names of the entries, and whether their ids are valid outside the bundle. Pure.
 */
import { isObject, type Json, type JsonObject, printJson } from '#src/shared/json/json.ts';
import type { Entry, Fault } from './entry.ts';
import { rewriteReferences, typeAndId } from './references.ts';
import { scopeOver, type Target } from './scope.ts';

/** Bundle types whose entries are loaded as resources. */
const LOADABLE: readonly Json[] = ['transaction', 'batch', 'collection', 'searchset'];

/** Returns the Bundle's entries as objects, or a fault if a Bundle of its type doesn't contain current resources. */
export function readEntries(bundle: JsonObject, place: string): { entries: JsonObject[]; faults: Fault[] } {
  if (bundle.type === undefined || !LOADABLE.includes(bundle.type)) {
    const diagnostics = `a Bundle of type ${printJson(bundle.type ?? null)} cannot be imported; the type must be one of ${LOADABLE.join(', ')}`;
    return { entries: [], faults: [{ place, diagnostics }] };
  }
  const entries: JsonObject[] = [];
  const faults: Fault[] = [];
  for (const [i, entry] of (Array.isArray(bundle.entry) ? bundle.entry : []).entries()) {
    if (isObject(entry)) entries.push(entry);
    else faults.push({ place: entryPlace(place, i), diagnostics: 'an entry must be an object' });
  }
  return { entries, faults };
}

/** Returns an entry's place, such as `ann.json, entry 12`, counted from 1. */
export function entryPlace(source: string, index: number): string {
  return `${source}, entry ${index + 1}`;
}

/**
 * Returns true if a Bundle's links are valid only within it, because it creates entries by POST, by `urn:` without ids, or
 * conditionally. Otherwise, its entries have ids (`PUT Type/id`, an export's `fullUrl`s) that other files may refer to.
 */
export function isSelfContained(entries: readonly JsonObject[]): boolean {
  return entries.some(({ request, fullUrl }) => {
    if (!isObject(request)) return typeof fullUrl !== 'string' || fullUrl.startsWith('urn:');
    return request.method === 'POST' || (typeof request.url === 'string' && request.url.includes('?'));
  });
}

/** A parsed entry: its method, target and resource. */
export interface ReadEntry {
  readonly key: string;
  readonly type: string;
  readonly resource: JsonObject;
  readonly condition?: NonNullable<Entry['condition']>;
}

/** Reads an entry; returns a fault if it contains nothing to load. `key` and `place` are passed through. */
export function readEntry(entry: JsonObject, key: string, place: string): ReadEntry | Fault {
  const request = isObject(entry.request) ? entry.request : {};
  const method = request.method ?? 'POST';
  if (method !== 'POST' && method !== 'PUT') {
    return {
      place,
      diagnostics: `${printJson(method)} entries cannot be imported, because they name ids of another server`,
    };
  }
  const { resource } = entry;
  if (!isObject(resource) || typeof resource.resourceType !== 'string') {
    return { place, diagnostics: 'the entry has no resource with a resourceType' };
  }
  const type = resource.resourceType;
  const criteria =
    method === 'POST'
      ? request.ifNoneExist
      : typeof request.url === 'string'
        ? request.url.split('?')[1]
        : undefined;
  return {
    key,
    type,
    resource,
    ...(typeof criteria === 'string' ? { condition: { method, criteria: criteria.replace(/^\?/, '') } } : {}),
  };
}

/** A resource whose id is valid across files: its key is `Type/id`, which references use. */
export interface NamedResource {
  readonly key: string;
  readonly resource: JsonObject;
  readonly place: string;
}

/**
 * Returns the resources of a bundle that isn't self-contained. Links by `fullUrl`, and links to other resources on the same
 * server, become `Type/id`, because the target may be in another file.
 */
export function namedResources(
  bundle: JsonObject,
  source: string,
): { resources: NamedResource[]; faults: Fault[] } {
  const { entries, faults } = readEntries(bundle, source);
  const aliases = new Map<string, Target>();
  const resources: NamedResource[] = [];
  for (const [i, entry] of entries.entries()) {
    const place = entryPlace(source, i);
    const read = readEntry(entry, place, place);
    if ('diagnostics' in read) {
      faults.push(read);
      continue;
    }
    const { resource, type } = read;
    const url = isObject(entry.request) ? entry.request.url : entry.fullUrl;
    const id = (typeof url === 'string' ? typeAndId(url)?.id : undefined) ?? resource.id;
    const key = typeof id === 'string' ? `${type}/${id}` : place;
    for (const alias of listAliases(entry, resource)) aliases.set(alias, { kind: 'entry', key });
    resources.push({ key, resource, place });
  }
  const scope = scopeOver(aliases);
  const bases = new Set(entries.flatMap(({ fullUrl }) => readBase(fullUrl)));
  const linked = resources.map(({ resource, ...rest }) => ({
    ...rest,
    resource: rewriteReferences(resource, (reference) => {
      const target = scope(reference);
      if (target?.kind === 'entry') return { kind: 'to', reference: target.key };
      const named = typeAndId(reference);
      return named !== undefined && readBase(reference).some((base) => bases.has(base))
        ? { kind: 'to', reference: `${named.type}/${named.id}` }
        : { kind: 'keep' };
    }).resource,
  }));
  return { resources: linked, faults };
}

/** Returns the server of a resource's absolute URL: `https://old.example/fhir/`. */
function readBase(url: Json | undefined): string[] {
  const base =
    typeof url === 'string'
      ? /^(https?:\/\/.*\/)[A-Z][A-Za-z]+\/[^/]+(\/_history\/.*)?$/.exec(url)?.[1]
      : undefined;
  return base === undefined ? [] : [base];
}

/**
 * Returns every string by which a reference may name an entry: its `fullUrl`, and each `Type/id` from its `fullUrl`, its URL
 * and its id.
 */
export function listAliases(entry: JsonObject, resource: JsonObject): string[] {
  const aliases: string[] = [];
  if (typeof entry.fullUrl === 'string') {
    aliases.push(entry.fullUrl);
    const target = typeAndId(entry.fullUrl);
    if (target !== undefined) aliases.push(`${target.type}/${target.id}`);
  }
  const url = isObject(entry.request) ? entry.request.url : undefined;
  if (typeof url === 'string' && typeAndId(url) !== undefined) aliases.push(url);
  if (typeof resource.id === 'string') aliases.push(`${resource.resourceType as string}/${resource.id}`);
  return aliases;
}
