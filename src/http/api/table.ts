/** The routes of the JSON interfaces by their paths. */
import { splitPath } from '../path.ts';
import type { Found, Method } from '../pipeline.ts';
import type { Route } from './route.ts';

interface Node {
  readonly literal: Map<string, Node>;
  parameter?: { readonly name: string; readonly node: Node };
  /** The path, if a route has it. */
  pattern?: string;
  /** Names of the path's parameters, in their order. */
  names: readonly string[];
  readonly methods: Partial<Record<Method, Route>>;
}

/** A known path. */
export interface FoundPath extends Found<Route> {
  /** Values of the path's parameters, in order. */
  readonly values: readonly string[];
  readonly names: readonly string[];
}

const PARAMETER = /^\{(\w+)\}$/;

const node = (): Node => ({ literal: new Map(), names: [], methods: {} });

/** Finds routes. A literal segment wins over a name in its place. */
export class RouteTable {
  readonly #root = node();

  /** @throws Error if two routes have the same method and path or operationId, or name the same segment differently */
  constructor(readonly routes: readonly Route[]) {
    const ids = new Set<string>();
    for (const route of routes) {
      if (ids.has(route.operationId)) throw new Error(`two routes are called ${route.operationId}`);
      ids.add(route.operationId);
      const place = route.path.split('/').slice(1).reduce(inside, this.#root);
      if (place.methods[route.method] !== undefined)
        throw new Error(`two routes answer ${route.method} ${route.path}`);
      place.methods[route.method] = route;
      place.pattern = route.path;
      place.names = namesIn(route.path);
    }
  }

  /**
   * Returns the routes of a path; undefined if there are none.
   * @throws Refusal malformed (400) for invalid percent-encoding
   */
  find(path: string): FoundPath | undefined {
    return search(this.#root, splitPath(path), 0, []);
  }
}

function inside(parent: Node, segment: string): Node {
  const name = PARAMETER.exec(segment)?.[1];
  if (name !== undefined) {
    parent.parameter ??= { name, node: node() };
    if (parent.parameter.name !== name)
      throw new Error(`one place of a path has two names: ${parent.parameter.name} and ${name}`);
    return parent.parameter.node;
  }
  const known = parent.literal.get(segment) ?? node();
  parent.literal.set(segment, known);
  return known;
}

function search(
  at: Node,
  segments: readonly string[],
  depth: number,
  values: readonly string[],
): FoundPath | undefined {
  const segment = segments[depth];
  if (segment === undefined) {
    const { pattern, methods, names } = at;
    return pattern === undefined ? undefined : { pattern, methods, names, values };
  }
  const literal = at.literal.get(segment);
  const found = literal && search(literal, segments, depth + 1, values);
  if (found !== undefined || at.parameter === undefined || segment === '') return found;
  return search(at.parameter.node, segments, depth + 1, [...values, segment]);
}

/** Returns the names of a path's parameters, in their order. */
export function namesIn(path: string): string[] {
  return path.split('/').flatMap((segment) => PARAMETER.exec(segment)?.[1] ?? []);
}
