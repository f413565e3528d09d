/** Joins the statements of several resources about the same thing, by its codes and its name. Pure. */
import type { Coded } from './told.ts';

/** An entry that can be joined with others. */
interface Named {
  readonly name: string | undefined;
  readonly codes: readonly Coded[];
}

/** The entries found so far to be about the same thing; `into` is the group into which this group was merged. */
interface Group<Member> {
  readonly members: Member[];
  into: Group<Member> | undefined;
}

/**
 * Groups sources that are about the same thing. Sources belong together if they share a code in a system. They also belong
 * together if they share the name, unless they have different codes in the same system: for example, a gel and tablets.
 * @param apartBy returns a text that must be the same for all sources in a group
 */
export function joinSame<Member extends Named>(
  sources: readonly Member[],
  apartBy: (source: Member) => string,
): Member[][] {
  const byCode = new Map<string, Group<Member>>();
  const byName = new Map<string, Group<Member>[]>();
  const all: Group<Member>[] = [];
  for (const source of sources) {
    let group: Group<Member> = { members: [source], into: undefined };
    all.push(group);
    const apart = apartBy(source);
    for (const { system, code } of source.codes) {
      if (system === '') continue;
      const key = `${apart}${system}|${code}`;
      const there = byCode.get(key);
      if (there !== undefined) group = merge(group, findRoot(there));
      byCode.set(key, group);
    }
    if (source.name === undefined) continue;
    const name = `${apart}${foldName(source.name)}`;
    if (byName.get(name)?.push(group) === undefined) byName.set(name, [group]);
  }
  for (const named of byName.values()) {
    if (named.length === 1) continue;
    const roots = [...new Set(named.map(findRoot))];
    if (areToldApart(roots)) continue;
    roots.reduce((one, other) => merge(findRoot(one), findRoot(other)));
  }
  return [...new Set(all.map(findRoot))].map(({ members }) => members);
}

/** Returns a name in the form used for comparison. */
export function foldName(name: string): string {
  return name.trim().toLowerCase();
}

/** Returns whether two groups without a common code have codes in the same system. */
function areToldApart(groups: readonly Group<Named>[]): boolean {
  const seen = new Set<string>();
  return groups.some(({ members }) => {
    const systems = new Set(members.flatMap(({ codes }) => codes.map(({ system }) => system)));
    systems.delete('');
    const isApart = [...systems].some((system) => seen.has(system));
    for (const system of systems) seen.add(system);
    return isApart;
  });
}

function findRoot<Member>(group: Group<Member>): Group<Member> {
  let root = group;
  while (root.into !== undefined) root = root.into;
  return root;
}

/** Moves the members of the smaller group into the larger one, and returns the larger one. */
function merge<Member>(one: Group<Member>, other: Group<Member>): Group<Member> {
  if (one === other) return one;
  const [large, small] = one.members.length > other.members.length ? [one, other] : [other, one];
  for (const member of small.members) large.members.push(member);
  small.into = large;
  return large;
}
