/** One pass over a resource: where it is, what was found, and what later rules of the same resource need. */
import { Faults } from '#src/shared/faults.ts';
import type { IssueType } from '#src/shared/issue.ts';
import type { Json, JsonObject } from '#src/shared/json.ts';
import { isObject } from '#src/shared/json.ts';

/** Who wants to see elements on the way. */
export interface Sink {
  /** Our FHIR bases, each with a slash at its end: a reference below one of them is checked like a relative one. */
  readonly bases?: readonly string[];
  /**
   * Called for each Reference element, contained resources' included.
   * @param path FHIRPath of the Reference.
   * @param holder the Reference itself, which has `reference`, `identifier` or `display`.
   */
  reference(path: string, holder: JsonObject): void;
  /** Called where an array of ids and extensions of primitives (`_given`) ends with nulls, which say nothing. */
  trailingNulls?(): void;
  /** How many faults are listed; default `MAX_FAULTS`. */
  readonly most?: number;
}

/** A resource with those that it contains: local references (`#x`) are resolved here. */
export interface Scope {
  readonly root: JsonObject;
  /** The resource that is being visited: `root` or one that it contains. */
  resource: JsonObject;
  /** Ids of contained resources. */
  ids?: ReadonlySet<string>;
  /** Local references met so far, as written. */
  readonly local: Set<string>;
  /** Contained resources that refer to their container by `#`. */
  readonly upward: Set<JsonObject>;
}

/** The state of one validation. */
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
   * Steps down.
   * @param index position in a list; -1 for an element that isn't a list
   */
  enter(name: string, index: number): void {
    this.#names[this.#depth] = name;
    this.#indexes[this.#depth] = index;
    this.#depth += 1;
  }

  /** Steps up again. */
  leave(): void {
    this.#depth -= 1;
  }

  /** FHIRPath of where it is, or of an element there. */
  path(name?: string, index = -1): string {
    let path = this.#names[0] ?? '';
    for (let at = 1; at < this.#depth; at += 1) path += step(this.#names[at] ?? '', this.#indexes[at] ?? -1);
    return name === undefined ? path : path + step(name, index);
  }

  /** Notes a fault of the element where it is, or of one there. */
  fault(code: IssueType, diagnostics: string, name?: string, index = -1): void {
    if (this.faults.full) {
      this.faults.count(1);
      return;
    }
    const expression = this.path(name, index);
    this.faults.add({ code, diagnostics: `${expression} ${diagnostics}`, expression });
  }
}

/** A scope of a resource that stands by itself. */
export function newScope(root: JsonObject): Scope {
  return { root, resource: root, local: new Set(), upward: new Set() };
}

/** Ids of the resources that a scope's root contains. */
export function containedIds(scope: Scope): ReadonlySet<string> {
  if (scope.ids === undefined) {
    const ids = new Set<string>();
    for (const resource of asArray(scope.root.contained)) {
      if (isObject(resource) && typeof resource.id === 'string') ids.add(resource.id);
    }
    scope.ids = ids;
  }
  return scope.ids;
}

/** Returns a list's items; none if it isn't a list. */
export function asArray(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function step(name: string, index: number): string {
  return index < 0 ? `.${name}` : `.${name}[${index}]`;
}
