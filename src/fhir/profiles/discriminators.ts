/** Determines which slice an element belongs to: https://hl7.org/fhir/R4/profiling.html#discriminator */
import { isObject, type Json } from '#src/shared/json/json.ts';
import { isBound } from './bindings.ts';
import { elementHolder, type Item, listItems } from './items.ts';
import { isFixed, matchesPattern } from './match.ts';
import { type Place, resolveReference } from './places.ts';
import { baseType, type Discriminator, findProfile, type ProfileNode } from './table.ts';

/** Returns whether a resource conforms to at least one of the given profiles. */
export type Conforms = (place: Place, profiles: readonly string[]) => boolean;

/** Returns the place of an item that is a resource. */
export type PlaceOfItem = (item: Item, from: Place) => Place;

/** Returns whether an item matches a slice according to one discriminator. */
export type Match = (item: Item, from: Place) => boolean;

/** Returns the resource type to which a profile or a base definition applies. */
export function typeOfProfile(url: string): string | undefined {
  return findProfile(url)?.type ?? baseType(url);
}

/**
 * Returns the profiles that a discriminator's path requires: the value at the end of the path must conform to at least one of
 * them.
 */
export function profilesAt(slice: ProfileNode, path: string): readonly string[] {
  const referenced = path.endsWith('resolve()');
  return expected(slice, splitSteps(path)).flatMap(({ types = [] }) =>
    types.flatMap(({ targets = [], profiles = [] }) => (referenced ? targets : profiles)),
  );
}

/** Returns the values at the end of a discriminator's path, starting from an item. */
export type Reach = (item: Item, from: Place, path: string) => readonly Reached[];

/**
 * Returns a function that follows paths and caches its last result, because many slices successively request the same path
 * from the same item.
 */
export function openReach(placeOfItem: PlaceOfItem): Reach {
  let last: { item: Item; path: string; reached: readonly Reached[] } | undefined;
  return (item, from, path) => {
    if (last?.item !== item || last.path !== path) {
      last = { item, path, reached: reach({ item, from }, splitSteps(path), placeOfItem) };
    }
    return last.reached;
  };
}

/** Returns the test for a slice's discriminator. If the slice has no constraint at the path, no item matches. */
export function makeMatch(
  { type, path }: Discriminator,
  slice: ProfileNode,
  conforms: Conforms,
  placeOfItem: PlaceOfItem,
  reachAt: Reach,
): Match {
  const steps = splitSteps(path);
  const at = (item: Item, from: Place): readonly Reached[] => reachAt(item, from, path);
  switch (type) {
    case 'exists': {
      const absent = expected(slice, steps).some(({ max }) => max === 0);
      return (item, from) => (at(item, from).length === 0) === absent;
    }
    case 'type': {
      const referenced = path.endsWith('resolve()');
      const types = new Set(
        expected(slice, steps)
          .flatMap((node) => node.types ?? [])
          .flatMap(({ code, targets = [] }) => (referenced ? targets.map(typeOfProfile) : [code])),
      );
      return (item, from) => at(item, from).some((found) => types.has(found.item.type));
    }
    case 'profile': {
      const profiles = profilesAt(slice, path);
      return (item, from) =>
        at(item, from).some((found) => conforms(placeOfItem(found.item, found.from), profiles));
    }
    default:
      return valueMatch(slice, steps, reachAt);
  }
}

/**
 * Returns the test for discriminators by value and by pattern. It uses the slice's fixed value, pattern or required binding,
 * at the path or above it.
 */
function valueMatch(slice: ProfileNode, steps: readonly string[], reachAt: Reach): Match {
  const [profile] = steps.join() === 'url' ? (slice.types?.[0]?.profiles ?? []) : [];
  if (profile !== undefined) {
    const [url = ''] = profile.split('|');
    return (item, from) => reachAt(item, from, 'url').some((found) => found.item.value === url);
  }
  for (let length = steps.length; length >= 0; length -= 1) {
    const above = steps.slice(0, length);
    const tests = expected(slice, above).flatMap(valueTest);
    if (tests.length === 0) continue;
    const path = above.join('.');
    return (item, from) => reachAt(item, from, path).some((found) => tests.some((test) => test(found.item)));
  }
  return () => false;
}

function valueTest({ fixed, pattern, binding }: ProfileNode): ((item: Item) => boolean)[] {
  if (fixed !== undefined) return [({ value }) => isFixed(value, fixed)];
  if (pattern !== undefined) return [({ value }) => matchesPattern(value, pattern)];
  if (binding?.strength === 'required') return [(item) => isBound(item, binding.valueSet) === true];
  return [];
}

/** Returns the steps of a discriminator's path, without `$this`. */
function splitSteps(path: string): readonly string[] {
  return path.split('.').filter((step) => step !== '$this' && step !== '');
}

/**
 * Returns a slice's constraints at the end of a path: the slice's own, or those of slices below it. A reference's target has
 * no separate node.
 */
function expected(slice: ProfileNode, steps: readonly string[]): readonly ProfileNode[] {
  let nodes: readonly ProfileNode[] = [slice];
  for (const step of steps) {
    if (step === 'resolve()') break;
    nodes = nodes
      .flatMap((node) => node.children?.[step] ?? [])
      .flatMap((node) => [node, ...Object.values(node.slices ?? {})]);
  }
  return nodes;
}

/** An item, and the resource that contains it. */
export interface Reached {
  readonly item: Item;
  readonly from: Place;
}

function reach(start: Reached, steps: readonly string[], placeOfItem: PlaceOfItem): Reached[] {
  let reached: Reached[] = [start];
  for (const step of steps) {
    reached = reached.flatMap(({ item, from }) => {
      if (step === 'resolve()') return resolved(item.value, from);
      const { holder, type } = elementHolder(item);
      const inside = isResource(item) ? placeOfItem(item, from) : from;
      return listItems(holder, type, step, item.path).map((found) => ({ item: found, from: inside }));
    });
  }
  return reached;
}

function resolved(value: Json | undefined, from: Place): Reached[] {
  const reference = isObject(value) ? value.reference : value;
  const place = resolveReference(reference, from);
  if (place === undefined) return [];
  const { resource, path } = place;
  return [
    {
      item: { value: resource, shadow: undefined, type: String(resource.resourceType), path },
      from: place,
    },
  ];
}

/** Returns whether an item is a resource. */
export function isResource({ value }: Item): boolean {
  return isObject(value) && typeof value.resourceType === 'string';
}
