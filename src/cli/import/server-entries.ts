/**
 * Finds directory entries that the service already has: by any of their identifiers, or by content if they have no
 * identifiers. An entry with one identifier needs no lookup, because its conditional create finds the existing entry.
 */
import { type ResourceType, typeEntry } from '#src/fhir/types.ts';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { hashContent, listIdentifiers, writeCriteria } from './identity.ts';
import { listReferences, rewriteReferences } from './references.ts';
import { Refused, type Sender } from './send.ts';
import type { Known } from './state.ts';

const PAGE = 200;
/** The number of identifiers per search. */
const TOGETHER = 20;

/** Looks up the directory entries of one service during one import. */
export class ServerEntries {
  /** Maps the search criteria for entries without identifiers to a map from content to `Type/id`. */
  readonly #byContent = new Map<string, Promise<ReadonlyMap<string, string>>>();
  /** Maps a conditional reference to `Type/id`. */
  readonly #resolved = new Map<string, Promise<string | undefined>>();

  constructor(private readonly sender: Pick<Sender, 'get'>) {}

  /**
   * Finds an entry.
   * @param resource as it would be sent, with references that are valid on the service.
   * @param urn by which the resource may refer to itself.
   * @returns undefined if the service doesn't have the entry, or has to match it during the write.
   */
  async find(type: ResourceType, resource: JsonObject, urn: string): Promise<Known | undefined> {
    const named = listIdentifiers(resource).length;
    if (named === 1) return undefined;
    return named === 0 ? this.#ofContent(type, resource, urn) : this.#ofIdentifiers(type, resource);
  }

  /** Returns the existing entry for the first identifier that the service knows. */
  async #ofIdentifiers(type: ResourceType, resource: JsonObject): Promise<Known | undefined> {
    const all = listIdentifiers(resource);
    for (let from = 0; from < all.length; from += TOGETHER) {
      const some = all.slice(from, from + TOGETHER);
      const found = await this.#search(`${type}?${writeCriteria(some)}&_count=${PAGE}`);
      for (const { system, value } of some) {
        const has = (each: JsonObject): boolean =>
          listIdentifiers(each).some((one) => one.system === system && one.value === value);
        const there = found.resources.find(has);
        if (there !== undefined)
          return { reference: `${type}/${String(there.id)}`, content: hashContent(there) };
      }
    }
    return undefined;
  }

  async #ofContent(type: ResourceType, resource: JsonObject, urn: string): Promise<Known | undefined> {
    const { home, owner } = typeEntry(type);
    const own = home === 'either' && owner !== undefined ? `&${owner}:missing=true` : '';
    const criteria = `${type}?identifier:missing=${resource.identifier === undefined}${own}`;
    const known = this.#byContent.get(criteria) ?? this.#readAll(criteria);
    this.#byContent.set(criteria, known);
    const reference = (await known).get(contentApart(await this.#withoutCriteria(resource), urn));
    return reference === undefined ? undefined : { reference, content: hashContent(resource) };
  }

  /** Reads all entries that match the criteria, once per import; if entries are equal, the first is used. */
  async #readAll(criteria: string): Promise<ReadonlyMap<string, string>> {
    const known = new Map<string, string>();
    let next: string | undefined = `${criteria}&_count=${PAGE}`;
    while (next !== undefined) {
      const page: Found = await this.#search(next);
      for (const resource of page.resources) {
        const reference = `${String(resource.resourceType)}/${String(resource.id)}`;
        const content = contentApart(resource, reference);
        if (!known.has(content)) known.set(content, reference);
      }
      next = page.next;
    }
    return known;
  }

  /** Returns a resource with its conditional references resolved as the service would resolve them on a write. */
  async #withoutCriteria(resource: JsonObject): Promise<JsonObject> {
    const targets = new Map<string, string>();
    for (const reference of listReferences(resource).filter((each) => each.includes('?'))) {
      const looking = this.#resolved.get(reference) ?? this.#resolve(reference);
      this.#resolved.set(reference, looking);
      const target = await looking;
      if (target !== undefined) targets.set(reference, target);
    }
    return rewriteReferences(resource, (reference) => {
      const target = targets.get(reference);
      return target === undefined ? { kind: 'keep' } : { kind: 'to', reference: target };
    }).resource;
  }

  async #resolve(reference: string): Promise<string | undefined> {
    const { resources } = await this.#search(`${reference}&_count=2`);
    const [first, ...others] = resources;
    return first === undefined || others.length > 0
      ? undefined
      : `${String(first.resourceType)}/${String(first.id)}`;
  }

  /**
   * Runs a search. If the service refuses the criteria, nothing is found, because the service would also refuse a write with
   * these criteria.
   */
  async #search(path: string): Promise<Found> {
    const bundle = await this.sender.get(path).catch((error: unknown) => {
      if (error instanceof Refused) return undefined;
      throw error;
    });
    const entries = Array.isArray(bundle?.entry) ? bundle.entry.filter(isObject) : [];
    const links = Array.isArray(bundle?.link) ? bundle.link.filter(isObject) : [];
    const next = links.find(({ relation }) => relation === 'next')?.url;
    return {
      resources: entries.flatMap(({ resource }) => (isObject(resource) ? [resource] : [])),
      next: typeof next === 'string' ? next.replace(/^.*?\/fhir\/R4\//, '') : undefined,
    };
  }
}

interface Found {
  readonly resources: readonly JsonObject[];
  readonly next: string | undefined;
}

/**
 * Returns the hash of an entry's content. References from the entry to itself are replaced, so that the hash doesn't depend on
 * the entry's name.
 */
function contentApart(resource: JsonObject, own: string): string {
  const { resource: apart } = rewriteReferences(resource, (reference) =>
    reference === own ? { kind: 'to', reference: '#' } : { kind: 'keep' },
  );
  return hashContent(apart);
}
