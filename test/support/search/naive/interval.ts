/** Compares intervals with R4's prefixes: https://hl7.org/fhir/R4/search.html#prefix */

/** An interval from `low` (inclusive) to `high` (exclusive); open ends are infinite. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** R4's prefixes, except `ap`, which each server may interpret differently. */
export const PREFIXES = ['eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb'] as const;
/** One of these prefixes. */
export type Prefix = (typeof PREFIXES)[number];

const contains = (outer: Interval, inner: Interval) => outer.low <= inner.low && inner.high <= outer.high;
const overlaps = (one: Interval, other: Interval) => one.low < other.high && other.low < one.high;

/** Returns whether a prefix's relation is true for the query's interval and an element's interval. */
export function prefixHolds(prefix: Prefix, asked: Interval, target: Interval): boolean {
  const above = { low: asked.high, high: Number.POSITIVE_INFINITY };
  const below = { low: Number.NEGATIVE_INFINITY, high: asked.low };
  switch (prefix) {
    case 'eq':
      return contains(asked, target);
    case 'ne':
      return !contains(asked, target);
    case 'gt':
      return overlaps(above, target);
    case 'lt':
      return overlaps(below, target);
    case 'ge':
      return overlaps(above, target) || contains(asked, target);
    case 'le':
      return overlaps(below, target) || contains(asked, target);
    case 'sa':
      return contains(above, target);
    case 'eb':
      return contains(below, target);
  }
}

/** Separates the prefix from a value; the default is `eq`. */
export function splitPrefix(text: string): [Prefix, string] {
  const prefix = PREFIXES.find((each) => text.startsWith(each));
  return prefix === undefined ? ['eq', text] : [prefix, text.slice(2)];
}
