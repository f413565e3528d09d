/**
 * Where each resource of a source belongs, and which resources go together: everything of one patient is one unit,
 * the directory is another, the rest is skipped and counted. Pure.
 */
import { isResourceType, type ResourceType, typeEntry } from '#src/fhir/types.ts';
import { isObject, type Json, type JsonObject, printJson } from '#src/shared/json.ts';
import { type Entry, type Fault, makeEntry } from './entry.ts';
import { labelOf, rewriteReferences, typeAndId } from './references.ts';

/** Where a resource belongs. */
export type Home =
  | { readonly kind: 'patient' }
  /** In the record of the patient that this reference names. */
  | { readonly kind: 'record'; readonly owner: string }
  /** In the record that its targets are of. */
  | { readonly kind: 'provenance'; readonly targets: readonly string[] }
  | { readonly kind: 'directory' }
  | { readonly kind: 'skipped'; readonly why: 'unsupported' | 'read-only' }
  | { readonly kind: 'fault'; readonly diagnostics: string };

/** Where a resource belongs, by the table of types. `resource` has a `resourceType`. */
export function homeOf(resource: JsonObject): Home {
  const type = resource.resourceType;
  if (!isResourceType(type)) return { kind: 'skipped', why: 'unsupported' };
  const { home, owner } = typeEntry(type);
  if (home === 'terminology') return { kind: 'skipped', why: 'read-only' };
  if (type === 'Patient') return { kind: 'patient' };
  if (home === 'directory' || owner === undefined) return { kind: 'directory' };
  if (owner === 'target') return { kind: 'provenance', targets: literals(resource.target) };
  const [reference] = literals(resource[owner]);
  if (reference !== undefined) return { kind: 'record', owner: reference };
  if (home === 'either' && resource[owner] === undefined) return { kind: 'directory' };
  return { kind: 'fault', diagnostics: `${type}.${owner} names no patient by a reference` };
}

function literals(value: Json | undefined): string[] {
  const items = Array.isArray(value) ? value : [value];
  return items.flatMap((item) =>
    isObject(item) && typeof item.reference === 'string' ? [item.reference] : [],
  );
}

/** What a reference names within one source or one import. */
export type Target =
  | { readonly kind: 'entry'; readonly key: string }
  | { readonly kind: 'dropped'; readonly uri: string; readonly type: string; readonly display?: string };

/** Finds what a reference names; undefined when it names nothing here. */
export type Scope = (reference: string) => Target | undefined;

/** Everything of one patient that one source, or all of an import's sources together, hold. */
export interface RecordUnit {
  /** The key of the Patient: an entry of this unit, or one that was loaded before. */
  readonly patient: string;
  readonly entries: readonly Entry[];
}

/** A self-contained bundle, sorted. */
export interface BundlePlan {
  readonly directory: readonly Entry[];
  readonly records: readonly RecordUnit[];
  /** Type → how many of it are in the bundle and not loaded. */
  readonly skipped: ReadonlyMap<string, number>;
  /** With any of these, nothing of the bundle is sent. */
  readonly faults: readonly Fault[];
  readonly scope: Scope;
}

/** Bundle types whose entries are taken as resources to load. */
const LOADABLE: readonly Json[] = ['transaction', 'batch', 'collection', 'searchset'];

/** The Bundle's entries as objects. A fault for a Bundle of a type that is no set of current resources. */
export function entriesOf(bundle: JsonObject, place: string): { entries: JsonObject[]; faults: Fault[] } {
  if (bundle.type === undefined || !LOADABLE.includes(bundle.type)) {
    const diagnostics = `a Bundle of type ${printJson(bundle.type ?? null)} cannot be imported: ${LOADABLE.join(', ')} can`;
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

/** `ann.json, entry 12`, counted from 1. */
export function entryPlace(source: string, index: number): string {
  return `${source}, entry ${index + 1}`;
}

/**
 * Whether a Bundle's links mean something only within it: it creates by POST, by `urn:` without ids of its own, or by
 * condition. Else its entries have ids (`PUT Type/id`, the `fullUrl`s of an export) which other files may refer to.
 */
export function isSelfContained(entries: readonly JsonObject[]): boolean {
  return entries.some(({ request, fullUrl }) => {
    if (!isObject(request)) return typeof fullUrl !== 'string' || fullUrl.startsWith('urn:');
    return request.method === 'POST' || (typeof request.url === 'string' && request.url.includes('?'));
  });
}

/**
 * Sorts a self-contained bundle.
 * @param scopeName what its keys start with: the hash of the source, since `urn:uuid:1` may stand in every file.
 * @param source the name of the source, for people.
 */
export function planBundle(bundle: JsonObject, scopeName: string, source: string): BundlePlan {
  const { entries, faults } = entriesOf(bundle, source);
  const aliases = new Map<string, Target>();
  const skipped = new Map<string, number>();
  const homes: { entry: Entry; home: Home }[] = [];
  for (const [i, entry] of entries.entries()) {
    const place = entryPlace(source, i);
    const read = readEntry(entry, `${scopeName}#${i}`, place);
    if ('diagnostics' in read) {
      faults.push(read);
      continue;
    }
    const { resource, type } = read;
    const home = homeOf(resource);
    const dropped = home.kind === 'skipped' || !isResourceType(type);
    const target: Target = dropped ? droppedTarget(entry, resource, type) : { kind: 'entry', key: read.key };
    for (const alias of aliasesOf(entry, resource)) if (!aliases.has(alias)) aliases.set(alias, target);
    if (dropped) skipped.set(type, (skipped.get(type) ?? 0) + 1);
    else
      homes.push({
        entry: makeEntry(read.key, type, resource, place, { ...read, fullUrl: entry.fullUrl }),
        home,
      });
  }
  const scope = scopeOver(aliases);
  const { directory, records, faults: homeless } = group(homes, scope);
  return { directory, records, skipped, faults: [...faults, ...homeless], scope };
}

interface ReadEntry {
  readonly key: string;
  readonly type: string;
  readonly resource: JsonObject;
  readonly condition?: NonNullable<Entry['condition']>;
}

function readEntry(entry: JsonObject, key: string, place: string): ReadEntry | Fault {
  const request = isObject(entry.request) ? entry.request : {};
  const method = request.method ?? 'POST';
  if (method !== 'POST' && method !== 'PUT') {
    return {
      place,
      diagnostics: `${printJson(method)} entries cannot be imported: old ids mean nothing on this server`,
    };
  }
  const { resource } = entry;
  if (!isObject(resource) || typeof resource.resourceType !== 'string') {
    return { place, diagnostics: 'the entry holds no resource with a resourceType' };
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

/** A resource of a bundle whose ids mean something across files: `Type/id` is its key, and its references say so too. */
export interface NamedResource {
  readonly key: string;
  readonly resource: JsonObject;
  readonly place: string;
}

/**
 * The resources of a bundle that is not self-contained. Links by `fullUrl`, and those to anything else on the server
 * that its `fullUrl`s are of, become `Type/id`: other files may hold it.
 */
export function namedResources(
  bundle: JsonObject,
  source: string,
): { resources: NamedResource[]; faults: Fault[] } {
  const { entries, faults } = entriesOf(bundle, source);
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
    for (const alias of aliasesOf(entry, resource)) aliases.set(alias, { kind: 'entry', key });
    resources.push({ key, resource, place });
  }
  const scope = scopeOver(aliases);
  const bases = new Set(entries.flatMap(({ fullUrl }) => baseOf(fullUrl)));
  const linked = resources.map(({ resource, ...rest }) => ({
    ...rest,
    resource: rewriteReferences(resource, (reference) => {
      const target = scope(reference);
      if (target?.kind === 'entry') return { kind: 'to', reference: target.key };
      const named = typeAndId(reference);
      return named !== undefined && baseOf(reference).some((base) => bases.has(base))
        ? { kind: 'to', reference: `${named.type}/${named.id}` }
        : { kind: 'keep' };
    }).resource,
  }));
  return { resources: linked, faults };
}

/** The server that an absolute URL of a resource is of: `https://old.example/fhir/`. */
function baseOf(url: Json | undefined): string[] {
  const base =
    typeof url === 'string'
      ? /^(https?:\/\/.*\/)[A-Z][A-Za-z]+\/[^/]+(\/_history\/.*)?$/.exec(url)?.[1]
      : undefined;
  return base === undefined ? [] : [base];
}

/** Every text by which a reference may name an entry: its `fullUrl`, and `Type/id` after that, its URL and its id. */
function aliasesOf(entry: JsonObject, resource: JsonObject): string[] {
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

function droppedTarget(entry: JsonObject, resource: JsonObject, type: string): Target {
  const uri = typeof entry.fullUrl === 'string' ? entry.fullUrl : `${type}/${String(resource.id)}`;
  const display = labelOf(resource);
  return { kind: 'dropped', uri, type, ...(display === undefined ? {} : { display }) };
}

function scopeOver(aliases: ReadonlyMap<string, Target>): Scope {
  return (reference) => {
    const exact =
      aliases.get(reference) ?? aliases.get(reference.replace(/(\/_history\/[^/#]+)?(#.*)?$/, ''));
    if (exact !== undefined) return exact;
    const target = typeAndId(reference);
    return target === undefined || target.absolute ? undefined : aliases.get(`${target.type}/${target.id}`);
  };
}

/** The key of the patient that an owner's reference names: of this bundle, of another source, or by a condition. */
function ownerKey(reference: string, scope: Scope, patients: ReadonlySet<string>): string | undefined {
  const target = scope(reference);
  if (target !== undefined)
    return target.kind === 'entry' && patients.has(target.key) ? target.key : undefined;
  if (/^Patient\?/.test(reference)) return reference;
  const named = typeAndId(reference);
  return named?.type === 'Patient' && !named.absolute ? `Patient/${named.id}` : undefined;
}

/** The entries by patient. A Provenance joins the record that its targets are in. */
function group(
  homes: readonly { entry: Entry; home: Home }[],
  scope: Scope,
): { directory: Entry[]; records: RecordUnit[]; faults: Fault[] } {
  const directory: Entry[] = [];
  const faults: Fault[] = [];
  const patients = new Map<string, Entry[]>();
  const patientOf = new Map<string, string>();
  const patientKeys = new Set(
    homes.filter(({ home }) => home.kind === 'patient').map(({ entry }) => entry.key),
  );
  const put = (patient: string, entry: Entry): void => {
    patientOf.set(entry.key, patient);
    const entries = patients.get(patient);
    if (entries === undefined) patients.set(patient, [entry]);
    else entries.push(entry);
  };
  for (const { entry, home } of homes) {
    if (home.kind === 'patient') put(entry.key, entry);
    else if (home.kind === 'directory') directory.push(entry);
    else if (home.kind === 'fault') faults.push({ place: entry.place, diagnostics: home.diagnostics });
    else if (home.kind === 'record') {
      const patient = ownerKey(home.owner, scope, patientKeys);
      if (patient !== undefined) put(patient, entry);
      else faults.push({ place: entry.place, diagnostics: `${home.owner} is no patient that is known here` });
    }
  }
  for (const { entry, home } of homes) {
    if (home.kind !== 'provenance') continue;
    const owner = home.targets.flatMap((reference) => {
      const target = scope(reference);
      const patient = target?.kind === 'entry' ? patientOf.get(target.key) : undefined;
      return patient === undefined ? [] : [patient];
    })[0];
    if (owner !== undefined) put(owner, entry);
    else faults.push({ place: entry.place, diagnostics: 'Provenance.target names nothing of a record here' });
  }
  const records = [...patients].map(([patient, entries]) => ({ patient, entries }));
  return { directory, records, faults };
}

/** `Type/id` as the pool of NDJSON and PUT entries names its resources; a dropped target for types that are not kept. */
export const pooledScope: Scope = (reference) => {
  const target = typeAndId(reference);
  if (target === undefined || target.absolute) return undefined;
  const key = `${target.type}/${target.id}`;
  return isResourceType(target.type)
    ? { kind: 'entry', key }
    : { kind: 'dropped', uri: key, type: target.type };
};

/**
 * The key of the patient in whose record a pooled resource is, `''` for the directory and for a Provenance, whose
 * record only its targets tell; or why it has no place.
 */
export function pooledOwner(home: Home, key: string): { owner: string } | { diagnostics: string } {
  if (home.kind === 'patient') return { owner: key };
  if (home.kind === 'fault') return { diagnostics: home.diagnostics };
  if (home.kind !== 'record') return { owner: '' };
  if (/^Patient\?/.test(home.owner)) return { owner: home.owner };
  const target = typeAndId(home.owner);
  if (target?.type === 'Patient' && !target.absolute) return { owner: `Patient/${target.id}` };
  return { diagnostics: `${home.owner} is no patient that is known here` };
}

/** Counts of entries by type. */
export function countTypes(entries: readonly { readonly type: ResourceType }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { type } of entries) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}
