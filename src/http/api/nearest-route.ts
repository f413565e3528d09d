/** Suggests a route for an unknown URL. */
import { nearest } from '#src/shared/nearest.ts';
import type { Method } from '../pipeline.ts';
import type { RouteTable } from './table.ts';

/** Maximum length of a path that is compared, in UTF-16 code units. */
const LONGEST = 300;
/** Maximum number of names that a message lists. */
const LISTED = 20;

/** The routes that share a path. */
interface Path {
  readonly path: string;
  readonly segments: readonly string[];
  readonly methods: readonly Method[];
}

const known = new WeakMap<RouteTable, readonly Path[]>();

/**
 * Returns advice for a URL without a route: the nearest route. If only the last segment is unknown, lists the possible last
 * segments; otherwise returns nothing. The work is bounded, because each segment is compared with at most one name per path.
 * @param path the requested path; its ids are not repeated.
 */
export function nearestRoute(table: RouteTable, method: string, path: string): string {
  if (path.length > LONGEST) return '';
  const paths = listPaths(table);
  const sent = path.split('/').filter((segment) => segment !== '');
  const near = findNearest(paths, sent) ?? findNearest(paths, ['v1', ...sent]);
  if (near !== undefined) {
    const wanted = method === 'HEAD' ? 'GET' : method;
    const methods = near.methods.filter((each) => each === wanted);
    const shown = (methods.length > 0 ? methods : near.methods).map((each) => `${each} ${near.path}`);
    return `; did you mean ${shown.join(' or ')}?`;
  }
  const begun = sent.slice(0, -1);
  if (begun.length < 2) return '';
  const below = paths.filter(
    ({ segments }) => segments.length === sent.length && differences(segments.slice(0, -1), begun) === 0,
  );
  const names = below.map(({ segments }) => segments.at(-1) ?? '').filter((name) => !name.startsWith('{'));
  const [first] = below;
  if (first === undefined || names.length === 0 || names.length > LISTED) return '';
  return `; the paths below ${first.path.slice(0, first.path.lastIndexOf('/'))} are ${names.join(', ')}`;
}

/** Returns the path with the same number of segments and the fewest differences, if all of these are small. */
function findNearest(paths: readonly Path[], sent: readonly string[]): Path | undefined {
  let found: Path | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const path of paths) {
    if (path.segments.length !== sent.length) continue;
    const count = differences(path.segments, sent);
    if (count >= least) continue;
    found = path;
    least = count;
  }
  return found;
}

/** Returns how many segments differ slightly; infinity if a segment has a completely different name. */
function differences(segments: readonly string[], sent: readonly string[]): number {
  let count = 0;
  for (const [at, segment] of segments.entries()) {
    const given = sent[at] ?? '';
    if (segment === given || segment.startsWith('{')) continue;
    if (nearest(given, [segment]) === undefined) return Number.POSITIVE_INFINITY;
    count += 1;
  }
  return count;
}

function listPaths(table: RouteTable): readonly Path[] {
  const made = known.get(table);
  if (made !== undefined) return made;
  const methods = new Map<string, Method[]>();
  for (const { path, method } of table.routes) methods.set(path, [...(methods.get(path) ?? []), method]);
  const paths = [...methods].map(([path, all]) => ({
    path,
    segments: path.split('/').slice(1),
    methods: all,
  }));
  known.set(table, paths);
  return paths;
}
