/**
 * Checks resources against profiles: cardinalities, types, fixed values and patterns, bindings, invariants, slices, and
 * references to resources that must conform (https://hl7.org/fhir/R4/profiling.html). Base R4 is checked elsewhere.
 */

import { withArticle } from '#src/shared/article.ts';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import type { Steps } from '#src/shared/load/slices.ts';
import { isResource, typeOfProfile } from './discriminators.ts';
import { type Fault, hasErrors } from './faults.ts';
import { elementHolder, type Item, listItems } from './items.ts';
import { isFixed, matchesPattern } from './match.ts';
import { bundlePlaces, containedPlace, makePlace, type Place, resolveReference } from './places.ts';
import { checkBinding, checkRules, type Scope } from './rules.ts';
import { Slicing } from './slicing.ts';
import {
  findProfile,
  listProfiles,
  type Profile,
  type ProfileNode,
  type ProfileType,
  shortName,
} from './table.ts';

const NO_FAULTS: readonly Fault[] = [];

/** Maximum length of a chain of references that is followed. Resources further along the chain are checked separately. */
const MAX_CHAIN = 50;

/** Checks one document or resource. The faults in each of its resources are determined once and then cached. */
export class ProfileCheck {
  readonly #places = new Map<JsonObject, Place>();
  readonly #found = new Map<JsonObject, Map<string, readonly Fault[]>>();
  readonly #slicings = new Map<ProfileNode, Slicing>();
  readonly root: Place;
  #chain = 0;

  constructor(resource: JsonObject) {
    this.root = this.#add(makePlace(resource, String(resource.resourceType)));
  }

  /** Returns the resource and every resource inside it, such as contained resources and Bundle entries. */
  places(): Iterable<Place> {
    return this.#places.values();
  }

  /**
   * Determines the faults of the entries according to the profiles for their types, one profile per step, so that later calls
   * find the faults in the cache. A document's Composition is checked last, because it refers to all other entries.
   */
  *entries(): Steps<void> {
    for (const place of [...this.places()].reverse()) {
      if (place === this.root) continue;
      for (const url of listProfiles(String(place.resource.resourceType))) {
        this.faults(place, url);
        yield;
      }
    }
  }

  #add(place: Place): Place {
    const { resource, path, root } = place;
    this.#places.set(resource, place);
    if (resource.resourceType === 'Bundle') {
      for (const entry of bundlePlaces(resource, path).entries) this.#add(entry);
    }
    const contained = Array.isArray(resource.contained) && root === place ? resource.contained.length : 0;
    for (let index = 0; index < contained; index += 1) {
      const inner = containedPlace(place, index);
      if (inner !== undefined) this.#add(inner);
    }
    return place;
  }

  #placeOfItem(item: Item, from: Place): Place {
    const { value, path } = item;
    if (!isObject(value)) return from;
    return this.#places.get(value) ?? this.#add(makePlace(value, path));
  }

  /**
   * Returns a resource's faults according to a bundled profile. If a resource is requested again while it is being checked, it
   * is assumed to conform.
   */
  faults(place: Place, url: string): readonly Fault[] {
    const profile = findProfile(url);
    if (profile === undefined) return NO_FAULTS;
    let known = this.#found.get(place.resource);
    if (known === undefined) {
      known = new Map();
      this.#found.set(place.resource, known);
    }
    const before = known.get(url);
    if (before !== undefined) return before;
    if (this.#chain >= MAX_CHAIN) return NO_FAULTS;
    known.set(url, NO_FAULTS);
    this.#chain += 1;
    const found = this.#find(place, url, profile);
    this.#chain -= 1;
    known.set(url, found);
    return found;
  }

  #find(place: Place, url: string, profile: Profile): readonly Fault[] {
    const { resource, path } = place;
    const found: Fault[] = [];
    const scope: Scope = {
      place,
      profile: url,
      tell: (fault) => found.push({ severity: 'error', identity: false, profile: url, ...fault }),
      pass: (faults) => {
        for (const fault of faults) found.push(fault);
      },
    };
    if (resource.resourceType !== profile.type) {
      const text = `must be ${withArticle(profile.type)}, not ${withArticle(String(resource.resourceType))}`;
      scope.tell({ code: 'value', path, text, identity: true });
      return found;
    }
    if (profile.base !== undefined) scope.pass(this.faults(place, profile.base));
    this.#checkItem(profile.root, { value: resource, shadow: undefined, type: profile.type, path }, scope);
    return found;
  }

  #conforms(place: Place, profiles: readonly string[]): boolean {
    return profiles.some((url) => {
      const type = typeOfProfile(url);
      const ofType = type === undefined || type === 'Resource' || type === place.resource.resourceType;
      return ofType && !hasErrors(this.faults(place, url));
    });
  }

  #checkElement(node: ProfileNode, name: string, holder: Item, scope: Scope): void {
    const { holder: object, type } = elementHolder(holder);
    const items = listItems(object, type, name, holder.path);
    const path = `${holder.path}.${name}`;
    const { min = 0, max = Number.POSITIVE_INFINITY } = node;
    if (items.length < min) {
      scope.tell({
        code: 'required',
        path,
        text: min === 1 ? 'is required' : `must occur at least ${min} times`,
      });
    }
    if (items.length > max) {
      const text = max === 0 ? 'must not be present' : `must occur at most ${max} times`;
      scope.tell({ code: 'structure', path, text });
    }
    for (const item of items) this.#checkItem(node, item, scope);
    if (node.slicing !== undefined) this.#checkSlices(node, items, path, scope);
  }

  #checkItem(node: ProfileNode, item: Item, scope: Scope): void {
    const { value, path } = item;
    if (node.types !== undefined) this.#checkType(node.types, item, scope);
    if (node.fixed !== undefined && !isFixed(value, node.fixed)) {
      const text = `must be ${JSON.stringify(node.fixed)}`;
      scope.tell({ code: 'value', path, text, identity: true });
    }
    if (node.pattern !== undefined && !matchesPattern(value, node.pattern)) {
      const text = `must match the pattern ${JSON.stringify(node.pattern)}`;
      scope.tell({ code: 'value', path, text, identity: true });
    }
    if (node.binding !== undefined) checkBinding(node.binding, item, scope);
    if (node.rules !== undefined) checkRules(node.rules, item, scope);
    for (const name in node.children) {
      const child = node.children[name];
      if (child !== undefined) this.#checkElement(child, name, item, scope);
    }
  }

  #checkType(types: readonly ProfileType[], item: Item, scope: Scope): void {
    const { value, path } = item;
    const allowed = types.filter(({ code }) => code === item.type);
    if (allowed.length === 0) {
      const names = types.map(({ code }) => code).join(' or ');
      scope.tell({ code: 'value', path, text: `must be of type ${names}`, identity: true });
    }
    for (const { profiles, targets } of allowed) {
      if (profiles !== undefined) this.#checkProfiles(profiles, item, scope);
      if (targets !== undefined && isObject(value)) this.#checkTarget(targets, value, path, scope);
    }
  }

  /**
   * Checks an item against profiles. If there is one profile, its faults are reported at their own paths; if there are
   * several, a single fault says that the item doesn't conform to any of them.
   */
  #checkProfiles(urls: readonly string[], item: Item, scope: Scope): void {
    const [url, more] = urls;
    const profile = url === undefined ? undefined : findProfile(url);
    if (url === undefined || profile === undefined || !isObject(item.value)) return;
    if (!isResource(item)) {
      this.#checkItem(profile.root, item, scope);
      return;
    }
    const place = this.#placeOfItem(item, scope.place);
    if (more === undefined) scope.pass(this.faults(place, url));
    else if (!this.#conforms(place, urls)) {
      const text = `must conform to one of ${urls.map(shortName).join(', ')}`;
      scope.tell({ code: 'value', path: item.path, text });
    }
  }

  /** Checks that the target of a Reference conforms. If the target isn't in the Bundle, checks only its type. */
  #checkTarget(targets: readonly string[], reference: JsonObject, path: string, scope: Scope): void {
    const place = resolveReference(reference.reference, scope.place);
    const text = typeof reference.reference === 'string' ? reference.reference : '';
    const type =
      place?.resource.resourceType ??
      /(?:^|\/)([A-Z][A-Za-z]+)\/[^/]+$/.exec(text.split('/_history/')[0] ?? '')?.[1];
    if (typeof type !== 'string') return;
    const ofType = targets.filter((url) => [type, 'Resource', undefined].includes(typeOfProfile(url)));
    if (ofType.length === 0) {
      const names = [...new Set(targets.map((url) => typeOfProfile(url) ?? url))].join(', ');
      scope.tell({ code: 'value', path, text: `must refer to ${names}, not to ${type}` });
    } else if (place !== undefined && !this.#conforms(place, ofType)) {
      const [cause] = ofType
        .flatMap((url) => this.faults(place, url))
        .filter(({ severity }) => severity === 'error');
      const why = cause === undefined ? '' : `: there ${cause.path} ${cause.text}`;
      const what = `must refer to a resource that conforms to ${ofType.map(shortName).join(' or ')}${why}`;
      scope.tell({ code: 'value', path, text: what, ...(cause && { cause }) });
    }
  }

  #readSlicing(node: ProfileNode): Slicing {
    let slicing = this.#slicings.get(node);
    if (slicing === undefined) {
      slicing = new Slicing(
        node,
        (place, profiles) => this.#conforms(place, profiles),
        (item, from) => this.#placeOfItem(item, from),
        (item, from, profile) => this.faults(this.#readContent(item, from), profile),
      );
      this.#slicings.set(node, slicing);
    }
    return slicing;
  }

  /** Returns the resource that an item itself is, or that it contains in `resource`. */
  #readContent(item: Item, from: Place): Place {
    const { holder, type } = elementHolder(item);
    const [inner] = isResource(item) ? [item] : listItems(holder, type, 'resource', item.path);
    return inner === undefined ? from : this.#placeOfItem(inner, from);
  }

  #checkSlices(node: ProfileNode, items: readonly Item[], path: string, scope: Scope): void {
    const slicing = this.#readSlicing(node);
    const assigned = items.map((item) => slicing.assign(item, scope.place));
    for (const [name, slice] of Object.entries(node.slices ?? {})) {
      const members = assigned.filter((one) => 'slice' in one && one.slice === name);
      for (const { item } of members) this.#checkItem(slice, item, scope);
      const { min = 0, max = Number.POSITIVE_INFINITY } = slice;
      if (members.length > max) {
        const text = `has ${members.length} items of slice ${name}; at most ${max} are allowed`;
        scope.tell({ code: 'structure', path, text });
      }
      if (members.length >= min) continue;
      for (const one of assigned) {
        if ('nearest' in one && one.nearest?.slice === name) scope.pass(one.nearest.faults);
      }
      const text = `has ${members.length} items of slice ${name}; at least ${min} are required`;
      scope.tell({ code: 'required', path, text, identity: true });
    }
    for (const one of assigned) {
      if ('slice' in one) continue;
      if (node.slicing?.closed === true) {
        scope.tell({
          code: 'structure',
          path: one.item.path,
          text: 'matches no slice, and no other items are allowed',
        });
      } else if (one.nearest !== undefined) {
        const [fault] = one.nearest.faults;
        const nearest = isAboutElse(one.item, one.nearest.faults)
          ? ''
          : `: by that of ${one.nearest.slice}, ${fault?.path} ${fault?.text}`;
        const text = `matches no slice, so it counts as additional content${nearest}`;
        scope.tell({ severity: 'information', code: 'informational', path: one.item.path, text });
      }
    }
  }
}

/**
 * Returns whether an item fails a profile only because of its code. In that case, the item is about something else, and the
 * profile doesn't apply to it.
 */
function isAboutElse({ path }: Item, faults: readonly Fault[]): boolean {
  return faults
    .filter(({ severity }) => severity === 'error')
    .every((fault) => /^(?:\.resource)?\.code(?:$|[.[])/.test(fault.path.slice(path.length)));
}
