/**
 * Splits a record that exceeds a transaction's limits into several transactions. Each resource comes after the resources that
 * it refers to; resources that refer to each other stay together.
 */
import type { Entry } from './entry.ts';

/** The limits of one transaction (docs/spec/decisions.md, section 2): the number of entries, and the bytes that it writes. */
export interface Limits {
  readonly entries: number;
  readonly bytes: number;
}

/** The service's limits, minus the size of the events' metadata and of the resources' `meta`. */
export const LIMITS: Limits = { entries: 5_000, bytes: 11_500_000 };

/** An upper bound on the bytes that an event adds to a resource's text: metadata, hash and header. */
const BYTES_PER_EVENT = 1_200;

/**
 * Groups entries that refer to each other, and orders the groups so that each comes after the groups it refers to.
 * Deterministic: Tarjan's strongly connected components, which the algorithm returns in that order.
 * @param links returns the keys that an entry refers to; keys that aren't in `entries` are ignored.
 */
export function inReferenceOrder(
  entries: readonly Entry[],
  links: (entry: Entry) => readonly string[],
): Entry[][] {
  const byKey = new Map(entries.map((entry) => [entry.key, entry]));
  const nodes = new Map<string, { index: number; low: number; open: boolean }>();
  const open: Entry[] = [];
  const groups: Entry[][] = [];
  const enter = (entry: Entry) => {
    const node = { index: nodes.size, low: nodes.size, open: true };
    nodes.set(entry.key, node);
    open.push(entry);
    return { entry, node, next: 0, targets: links(entry) };
  };
  for (const root of entries) {
    if (nodes.has(root.key)) continue;
    const path = [enter(root)];
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const target = byKey.get(top.targets[top.next++] ?? '');
      if (target !== undefined) {
        const seen = nodes.get(target.key);
        if (seen === undefined) path.push(enter(target));
        else if (seen.open) top.node.low = Math.min(top.node.low, seen.index);
      } else if (top.next > top.targets.length) {
        path.pop();
        const parent = path.at(-1);
        if (parent !== undefined) parent.node.low = Math.min(parent.node.low, top.node.low);
        if (top.node.low === top.node.index) groups.push(close(open, nodes, top.entry));
      }
    }
  }
  return groups;
}

function close(open: Entry[], nodes: Map<string, { open: boolean }>, root: Entry): Entry[] {
  const members = open.splice(open.lastIndexOf(root));
  for (const { key } of members) {
    const node = nodes.get(key);
    if (node !== undefined) node.open = false;
  }
  return members;
}

/**
 * Splits entries into as few transactions as their order allows. If they all fit, there is one part, in the given order. A
 * group of entries that refer to each other is split only if it exceeds the limits by itself.
 */
export function cutIntoParts(
  entries: readonly Entry[],
  links: (entry: Entry) => readonly string[],
  limits: Limits = LIMITS,
): Entry[][] {
  if (fits(entries, limits)) return [[...entries]];
  const parts: Entry[][] = [];
  let part: Entry[] = [];
  let bytes = 0;
  const take = (group: readonly Entry[], size: number): void => {
    if (part.length > 0 && (part.length + group.length > limits.entries || bytes + size > limits.bytes)) {
      parts.push(part);
      part = [];
      bytes = 0;
    }
    part.push(...group);
    bytes += size;
  };
  for (const group of inReferenceOrder(entries, links)) {
    if (fits(group, limits)) take(group, written(group));
    else for (const entry of group) take([entry], written([entry]));
  }
  parts.push(part);
  return parts;
}

function fits(entries: readonly Entry[], limits: Limits): boolean {
  return entries.length <= limits.entries && written(entries) <= limits.bytes;
}

function written(entries: readonly Entry[]): number {
  return entries.reduce((sum, { bytes }) => sum + bytes + BYTES_PER_EVENT, 0);
}
