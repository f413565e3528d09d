/** Reads problems; each problem appears once, even if several Conditions state it (docs/clinical-reading.md). */
import { newestFirst } from './dates.ts';
import { foldName, joinSame } from './join-same.ts';
import { readStated, type Stated } from './stated.ts';
import type { Around, Told } from './told.ts';

/** A single Condition's statement about a problem. */
export interface ProblemSource<Of extends Told = Told> extends Stated<Of> {
  /** The part of the body, in words. */
  readonly site: string | undefined;
}

export interface Problem<Of extends Told = Told> extends Omit<ProblemSource<Of>, 'told'> {
  /** Newest first; the first source is the lead. */
  readonly sources: readonly ProblemSource<Of>[];
  /** The source with the earliest date. According to the record, this is when the problem began. */
  readonly oldest: ProblemSource<Of>;
}

/** Reads a single Condition's statement. */
export function readProblemSource<Of extends Told>(told: Of, around: Around): ProblemSource<Of> {
  const { bodySite } = told.value;
  return { ...readStated(told, around), site: bodySite === undefined ? undefined : around.name(bodySite) };
}

/**
 * Joins the statements of Conditions about the same problem.
 * @returns active problems first; newest first within each group
 */
export function joinProblems<Of extends Told>(sources: readonly ProblemSource<Of>[]): Problem<Of>[] {
  return groupProblems(sources).map(joinProblem).sort(activeFirst);
}

/**
 * Groups Conditions that state the same problem. They must have the same name, body site and certainty, and must either all be
 * active or all have ended. So when many problems have the same code, a different text or site isn't lost.
 */
export function groupProblems<Of extends Told>(sources: readonly ProblemSource<Of>[]): ProblemSource<Of>[][] {
  return joinSame(sources, ({ name = '', site, isOver, isOfDeceased, uncertainty }) =>
    [foldName(name), site, isOver, isOfDeceased, uncertainty, ''].join('\n'),
  );
}

/** Joins the sources of one problem. */
export function joinProblem<Of extends Told>(group: ProblemSource<Of>[]): Problem<Of> {
  const sources = group.sort((a, b) => newestFirst(a, b) || (a.told.id < b.told.id ? 1 : -1));
  const [lead] = sources;
  if (lead === undefined) throw new TypeError('a problem has no source');
  const oldest = sources.findLast(({ dated }) => dated.date !== null && dated.means !== 'recorded') ?? lead;
  const { told: _, ...said } = lead;
  // If a source has no status, another source's status is used.
  const { status } = sources.find((each) => each.status !== undefined) ?? lead;
  return { ...said, status, sources, oldest, revisions: sources.flatMap(({ revisions }) => revisions) };
}

/** Orders problems: active ones first; newest first within each group. */
export function activeFirst(a: Problem, b: Problem): number {
  return Number(a.isOver) - Number(b.isOver) || newestFirst(a, b);
}
