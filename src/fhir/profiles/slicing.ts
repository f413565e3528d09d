/** Assigns an element's items to slices: https://hl7.org/fhir/R4/profiling.html#slicing */
import {
  type Conforms,
  type Match,
  makeMatch,
  openReach,
  type PlaceOfItem,
  profilesAt,
} from './discriminators.ts';
import { type Fault, hasErrors } from './faults.ts';
import type { Item } from './items.ts';
import type { Place } from './places.ts';
import type { ProfileNode } from './table.ts';

/** A slice, with the tests that distinguish it from other slices. */
interface Slice {
  readonly name: string;
  readonly node: ProfileNode;
  /** The tests of all discriminators except discriminators by profile. */
  readonly kind: readonly Match[];
  /** For discriminators by profile inside the element: the profiles to which the content must conform. */
  readonly profiles: readonly string[];
  readonly conforms: readonly Match[];
}

/**
 * The result for an item. `nearest` is the slice that comes closest if the item is in no slice but has the same kind as that
 * slice.
 */
export type Assigned =
  | { readonly item: Item; readonly slice: string }
  | { readonly item: Item; readonly nearest?: { readonly slice: string; readonly faults: readonly Fault[] } };

/** Returns the faults, according to a profile, in the resource that an item itself is or that it contains in `resource`. */
export type FaultsOfContent = (item: Item, from: Place, profile: string) => readonly Fault[];

/** Assigns items to slices. Created once for each element in a profile. */
export class Slicing {
  readonly #slices: readonly Slice[];

  constructor(
    node: ProfileNode,
    conforms: Conforms,
    placeOfItem: PlaceOfItem,
    readonly faultsOfContent: FaultsOfContent,
  ) {
    const by = node.slicing?.by ?? [];
    const reachAt = openReach(placeOfItem);
    this.#slices = Object.entries(node.slices ?? {}).map(([name, slice]) => {
      const match = (one: (typeof by)[number]): Match =>
        makeMatch(one, slice, conforms, placeOfItem, reachAt);
      const byProfile = by.filter(({ type }) => type === 'profile');
      const inside = byProfile.filter(({ path }) => !path.includes('resolve()'));
      // If a slice requires no profile, it accepts all items of its kind.
      const asked = byProfile.filter(({ path }) => profilesAt(slice, path).length > 0);
      return {
        name,
        node: slice,
        kind: by.filter(({ type }) => type !== 'profile').map(match),
        profiles: inside.flatMap(({ path }) => profilesAt(slice, path)),
        conforms: asked.map(match),
      };
    });
  }

  /** Returns an item's slice. */
  assign(item: Item, from: Place): Assigned {
    const ofKind = this.#slices.filter(({ kind }) => kind.every((match) => match(item, from)));
    const found = ofKind.find(({ conforms }) => conforms.every((match) => match(item, from)));
    if (found !== undefined) return { item, slice: found.name };
    return this.#nearest(item, from, ofKind);
  }

  /**
   * Finds the slice that comes closest to an item. Strictly speaking, an item that doesn't conform to any slice's profile is
   * additional content, no matter how small its fault is. But if the item has everything that identifies a profile's
   * resources, it is assigned to that profile's slice, so that the fault is reported.
   */
  #nearest(item: Item, from: Place, ofKind: readonly Slice[]): Assigned {
    const candidates = ofKind
      .flatMap(({ name, profiles }) =>
        profiles.map((profile) => ({ slice: name, faults: this.faultsOfContent(item, from, profile) })),
      )
      .sort((one, other) => one.faults.length - other.faults.length);
    const meant = candidates.find(({ faults }) => !faults.some(({ identity }) => identity));
    if (meant !== undefined && hasErrors(meant.faults)) return { item, slice: meant.slice };
    const [nearest] = candidates;
    return nearest === undefined ? { item } : { item, nearest };
  }
}
