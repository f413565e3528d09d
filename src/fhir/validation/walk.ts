/**
 * Defines the state of one pass over a resource: the current position, the faults found, and values that later rules for the
 * same resource need.
 */
import { cut } from '#src/shared/cut.ts';
import { Faults } from '#src/shared/faults.ts';
import type { IssueType } from '#src/shared/issue.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { isObject } from '#src/shared/json/json.ts';

/** Receives elements that are found during validation. */
export interface Sink {
  /** Our FHIR base URLs, each with a trailing slash. A reference below one of them is checked like a relative reference. */
  readonly bases?: readonly string[];
  /**
   * Called for each Reference element, including those in contained resources.
   * @param path FHIRPath of the Reference.
   * @param holder the Reference itself, which has `reference`, `identifier` or `display`.
   */
  reference(path: string, holder: JsonObject): void;
  /** Called if an array of primitives' ids and extensions (`_given`) ends with nulls that carry no meaning. */
  trailingNulls?(): void;
  /** Maximum number of faults to list; default `MAX_FAULTS`. */
  readonly most?: number;
}

/** A resource together with its contained resources. Local references (`#x`) are resolved within it. */
export interface Scope {
  readonly root: JsonObject;
  /** The resource that is being visited: `root` or one of its contained resources. */
  resource: JsonObject;
  /** Contained resources by id. */
  contained?: ReadonlyMap<string, JsonObject>;
  /** Ids of the elements of `resource` found so far; a contained resource has its own set. */
  ids: Set<string>;
  /** Local references found so far, as written. */
  readonly local: Set<string>;
  /** Contained resources that refer to their container by `#`. */
  readonly upward: Set<JsonObject>;
}

/** The position and results of one validation. */
export class Walk {
  readonly faults: Faults;
  readonly sink: Sink | undefined;
  scope: Scope;
  readonly #names: string[] = [];
  readonly #indexes: number[] = [];
  #depth = 0;

  constructor(root: JsonObject, sink?: Sink) {
    this.scope = newScope(root);
    this.sink = sink;
    this.faults = new Faults(sink?.most);
  }

  /**
   * Moves down to an element.
   * @param index position in a list; -1 for an element that isn't a list
   */
  enter(name: string, index: number): void {
    this.#names[this.#depth] = name;
    this.#indexes[this.#depth] = index;
    this.#depth += 1;
  }

  /** Moves up to the parent. */
  leave(): void {
    this.#depth -= 1;
  }

  /** Returns the FHIRPath of the current position or, if a name is given, of that element at the position. */
  path(name?: string, index = -1): string {
    let path = this.#names[0] ?? '';
    for (let at = 1; at < this.#depth; at += 1) path += step(this.#names[at] ?? '', this.#indexes[at] ?? -1);
    return name === undefined ? path : path + step(name, index);
  }

  /** Adds a fault at the current position or, if a name is given, for that element at the position. */
  fault(code: IssueType, diagnostics: string, name?: string, index = -1): void {
    if (this.faults.full) {
      this.faults.count(1);
      return;
    }
    const expression = this.path(name, index);
    this.faults.add({ code, diagnostics: `${expression} ${diagnostics}`, expression });
  }
}

/** Returns the scope of an independent resource. */
export function newScope(root: JsonObject): Scope {
  return { root, resource: root, ids: new Set(), local: new Set(), upward: new Set() };
}

/** Returns the resources contained in a scope's root, by id. */
export function containedById(scope: Scope): ReadonlyMap<string, JsonObject> {
  if (scope.contained === undefined) {
    const contained = new Map<string, JsonObject>();
    for (const resource of asArray(scope.root.contained)) {
      if (isObject(resource) && typeof resource.id === 'string') contained.set(resource.id, resource);
    }
    scope.contained = contained;
  }
  return scope.contained;
}

/**
 * Records the id of an element, or of a contained resource in its container. Both kinds of ids must be unique together
 * (https://hl7.org/fhir/R4/element-definitions.html#Element.id, references.html#contained).
 */
export function noteId(id: Json, walk: Walk, name?: string, index = -1): void {
  if (typeof id !== 'string') return;
  const { ids } = walk.scope;
  if (ids.has(id))
    walk.fault('invariant', `has the id ${cut(id, 64)} of another element of the resource`, name, index);
  ids.add(id);
}

/** Returns a list's items; an empty list if the value isn't a list. */
export function asArray(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function step(name: string, index: number): string {
  return index < 0 ? `.${name}` : `.${name}[${index}]`;
}
