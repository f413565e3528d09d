/** Finds routes by path. */
import { splitPath } from '../path.ts';
import type { Found, Method } from '../pipeline.ts';
import type { Route } from './route.ts';

/** The properties by which a route is found. */
interface Placed {
  readonly method: Method;
  readonly path: string;
  readonly operationId: string;
}

interface Node<Each> {
  readonly literal: Map<string, Node<Each>>;
  /** The node for a parameter at this position in the path. */
  parameter?: Node<Each>;
  /** The whole path, if it belongs to a route. */
  pattern?: string;
  /** Names of the path's parameters, in order. */
  names: readonly string[];
  readonly methods: Partial<Record<Method, Each>>;
}

/** A known path. */
export interface FoundPath<Each = Route> extends Found<Each> {
  /** Values of the path's parameters, in order. */
  readonly values: readonly string[];
  readonly names: readonly string[];
}

const PARAMETER = /^\{(\w+)\}$/;

const makeNode = <Each>(): Node<Each> => ({ literal: new Map(), names: [], methods: {} });

/** Finds routes. A literal segment takes precedence over a parameter at the same position. */
export class RouteTable<Each extends Placed = Route> {
  readonly #root = makeNode<Each>();
  readonly #spell: (segment: string) => string;

  /**
   * @param letterCase `any`: literal segments match in either case
   * @throws Error if two routes have the same operationId, or the same method and path, or if a path has two patterns
   */
  constructor(
    readonly routes: readonly Each[],
    letterCase: 'exact' | 'any' = 'exact',
  ) {
    this.#spell = letterCase === 'any' ? (segment) => segment.toLowerCase() : (segment) => segment;
    const ids = new Set<string>();
    for (const route of routes) {
      if (ids.has(route.operationId)) throw new Error(`two routes are called ${route.operationId}`);
      ids.add(route.operationId);
      const segments = route.path === '/' ? [] : route.path.split('/').slice(1);
      const place = segments.reduce((parent, segment) => this.#inside(parent, segment), this.#root);
      if (place.methods[route.method] !== undefined)
        throw new Error(`two routes answer ${route.method} ${route.path}`);
      if (place.pattern !== undefined && place.pattern !== route.path)
        throw new Error(`one path has two patterns: ${place.pattern} and ${route.path}`);
      place.methods[route.method] = route;
      place.pattern = route.path;
      place.names = namesIn(route.path);
    }
  }

  /**
   * Returns the routes for a path; undefined if there are none.
   * @throws Refusal malformed (400) for invalid percent-encoding
   */
  find(path: string): FoundPath<Each> | undefined {
    return this.#search(this.#root, splitPath(path), 0, []);
  }

  /** Returns the routes for a path; an empty list if the path is unknown or invalid. */
  listAt(path: string): readonly Each[] {
    try {
      return Object.values(this.find(path)?.methods ?? {});
    } catch {
      return [];
    }
  }

  #inside(parent: Node<Each>, segment: string): Node<Each> {
    if (PARAMETER.test(segment)) {
      parent.parameter ??= makeNode();
      return parent.parameter;
    }
    const known = parent.literal.get(this.#spell(segment)) ?? makeNode<Each>();
    parent.literal.set(this.#spell(segment), known);
    return known;
  }

  #search(
    at: Node<Each>,
    segments: readonly string[],
    depth: number,
    values: readonly string[],
  ): FoundPath<Each> | undefined {
    const segment = segments[depth];
    if (segment === undefined) {
      const { pattern, methods, names } = at;
      return pattern === undefined ? undefined : { pattern, methods, names, values };
    }
    const literal = at.literal.get(this.#spell(segment));
    const found = literal && this.#search(literal, segments, depth + 1, values);
    if (found !== undefined || at.parameter === undefined || segment === '') return found;
    return this.#search(at.parameter, segments, depth + 1, [...values, segment]);
  }
}

/** Returns the names of a path's parameters, in order. */
export function namesIn(path: string): string[] {
  return path.split('/').flatMap((segment) => PARAMETER.exec(segment)?.[1] ?? []);
}
