/** The routes of the JSON interfaces by their paths. */
import { methodNotAllowed, notSupportedHere } from '#src/shared/method-not-allowed.ts';
import { segmentsOf } from '../path.ts';
import type { Method, Route } from './route.ts';

interface Node {
  readonly literal: Map<string, Node>;
  parameter?: { readonly name: string; readonly node: Node };
  readonly methods: Map<Method, Route>;
}

/** A known path. */
export interface Found {
  /** Routes by method. */
  readonly methods: ReadonlyMap<Method, Route>;
  /** Values of the path's parameters, in order. */
  readonly values: readonly string[];
}

const PARAMETER = /^\{(\w+)\}$/;

const node = (): Node => ({ literal: new Map(), methods: new Map() });

/** Finds routes. A literal segment wins over a name in its place. */
export class RouteTable {
  readonly #root = node();

  /** @throws Error if two routes have the same method and path or operationId, or name the same segment differently */
  constructor(readonly routes: readonly Route[]) {
    const ids = new Set<string>();
    for (const route of routes) {
      if (ids.has(route.operationId)) throw new Error(`two routes are called ${route.operationId}`);
      ids.add(route.operationId);
      const { methods } = route.path.split('/').slice(1).reduce(inside, this.#root);
      if (methods.has(route.method)) throw new Error(`two routes answer ${route.method} ${route.path}`);
      methods.set(route.method, route);
    }
  }

  /**
   * Returns the routes of a path; undefined if there are none.
   * @throws Refusal malformed (400) for invalid percent-encoding
   */
  find(path: string): Found | undefined {
    return search(this.#root, segmentsOf(path), 0, []);
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
): Found | undefined {
  const segment = segments[depth];
  if (segment === undefined) return at.methods.size === 0 ? undefined : { methods: at.methods, values };
  const literal = at.literal.get(segment);
  const found = literal && search(literal, segments, depth + 1, values);
  if (found !== undefined || at.parameter === undefined || segment === '') return found;
  return search(at.parameter.node, segments, depth + 1, [...values, segment]);
}

/** Returns the names of a path's parameters, in their order. */
export function namesIn(path: string): string[] {
  return path.split('/').flatMap((segment) => PARAMETER.exec(segment)?.[1] ?? []);
}

/** Returns the value of `Allow` for a path. */
export function allowOf(methods: ReadonlyMap<Method, Route>): string {
  const all = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...all, 'OPTIONS'].join(', ');
}

/**
 * Returns the route of a method.
 * @throws Refusal method_not_allowed (405) with `Allow`
 */
export function routeFor(methods: ReadonlyMap<Method, Route>, method: string): Route {
  const name = method === 'HEAD' ? 'GET' : method;
  for (const [known, route] of methods) if (known === name) return route;
  throw methodNotAllowed(notSupportedHere(method), allowOf(methods));
}
