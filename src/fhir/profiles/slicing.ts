/** Slices of an element: which item is in which, and how many each has. https://hl7.org/fhir/R4/profiling.html#slicing */
import {
  type Conforms,
  type Match,
  matchOf,
  openReach,
  type PlaceOfItem,
  profilesAt,
} from './discriminators.ts';
import { type Fault, hasErrors } from './faults.ts';
import type { Item } from './items.ts';
import type { Place } from './places.ts';
import type { ProfileNode } from './table.ts';

/** A slice with the tests that tell it from others. */
interface Slice {
  readonly name: string;
  readonly node: ProfileNode;
  /** All discriminators but those by profile. */
  readonly kind: readonly Match[];
  /** Of a discriminator by profile: what the content has to conform to, and whether it is inside the element. */
  readonly profiles: readonly string[];
  readonly conforms: readonly Match[];
}

/** What an item comes to. `nearest`: of no slice, although of the kind of this one. */
export type Assigned =
  | { readonly item: Item; readonly slice: string }
  | { readonly item: Item; readonly nearest?: { readonly slice: string; readonly faults: readonly Fault[] } };

/** The faults of the resource that an item is, or has as its `resource`, by a profile. */
export type FaultsOfContent = (item: Item, from: Place, profile: string) => readonly Fault[];

/** Slices an element's items. Made once for an element of a profile. */
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
      const match = (one: (typeof by)[number]): Match => matchOf(one, slice, conforms, placeOfItem, reachAt);
      const byProfile = by.filter(({ type }) => type === 'profile');
      const inside = byProfile.filter(({ path }) => !path.includes('resolve()'));
      // A slice that asks for no profile takes whatever is of its kind.
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

  /** Which slice an item is in. */
  assign(item: Item, from: Place): Assigned {
    const ofKind = this.#slices.filter(({ kind }) => kind.every((match) => match(item, from)));
    const found = ofKind.find(({ conforms }) => conforms.every((match) => match(item, from)));
    if (found !== undefined) return { item, slice: found.name };
    return this.#nearest(item, from, ofKind);
  }

  /**
   * What conforms to no slice's profile is, by the letter, additional content, however small its fault. Where it has
   * all that tells a profile's resources from others, it is held to be of that slice, so that the fault is told.
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
