/**
 * Resolves references between resources inside one resource, such as contained resources and Bundle entries.
 * https://hl7.org/fhir/R4/bundle.html#references
 */
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { asArray } from '../validation/walk.ts';

/** A resource and its place. */
export interface Place {
  readonly resource: JsonObject;
  /** The resource's FHIRPath, starting at the outermost resource. */
  readonly path: string;
  /** The place of the resource that contains this one; this place itself if the resource isn't contained. */
  readonly root: Place;
  /** The Bundle whose entry the resource is. */
  readonly bundle?: BundlePlaces;
  readonly fullUrl?: string;
}

/** A Bundle's entries. */
export interface BundlePlaces {
  readonly entries: readonly Place[];
  readonly byUrl: ReadonlyMap<string, Place>;
}

/** Returns the place of a resource that isn't inside another one. */
export function makePlace(
  resource: JsonObject,
  path: string,
  entry?: Omit<Place, 'resource' | 'path' | 'root'>,
): Place {
  const place: { -readonly [K in keyof Place]?: Place[K] } = { resource, path, ...entry };
  place.root = place as Place;
  return place as Place;
}

/** Returns the place of a contained resource. */
export function containedPlace(root: Place, index: number): Place | undefined {
  const resource = asArray(root.resource.contained)[index];
  return isObject(resource) ? { resource, path: `${root.path}.contained[${index}]`, root } : undefined;
}

/** Returns the entries of a Bundle at `path`. */
export function bundlePlaces(bundle: JsonObject, path: string): BundlePlaces {
  const entries: Place[] = [];
  const byUrl = new Map<string, Place>();
  const places: BundlePlaces = { entries, byUrl };
  for (const [index, entry] of asArray(bundle.entry).entries()) {
    if (!isObject(entry) || !isObject(entry.resource)) continue;
    const { fullUrl } = entry;
    const url = typeof fullUrl === 'string' ? { fullUrl } : {};
    const place = makePlace(entry.resource, `${path}.entry[${index}].resource`, { bundle: places, ...url });
    entries.push(place);
    if (typeof fullUrl === 'string' && !byUrl.has(fullUrl)) byUrl.set(fullUrl, place);
  }
  return places;
}

const BELOW_BASE = /^(.*\/)[A-Z][A-Za-z]*\/[A-Za-z0-9\-.]{1,64}$/;

/** Returns the resource that a Reference names, if it is contained or in the same Bundle. */
export function resolveReference(reference: Json | undefined, from: Place): Place | undefined {
  if (typeof reference !== 'string') return undefined;
  const { root } = from;
  if (reference === '#') return root;
  if (reference.startsWith('#')) {
    const id = reference.slice(1);
    const index = asArray(root.resource.contained).findIndex((one) => isObject(one) && one.id === id);
    return containedPlace(root, index);
  }
  const [target = ''] = reference.split('/_history/');
  const { bundle, fullUrl } = root;
  if (bundle === undefined) return undefined;
  const known = bundle.byUrl.get(target);
  if (known !== undefined || fullUrl === undefined || target.includes(':')) return known;
  return bundle.byUrl.get(`${BELOW_BASE.exec(fullUrl)?.[1] ?? ''}${target}`);
}
