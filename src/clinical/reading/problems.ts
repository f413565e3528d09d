/** Reads problems, each once, however many Conditions state it (docs/clinical-reading.md). */
import { newestFirst } from './dates.ts';
import { foldName, joinSame } from './join-same.ts';
import { readStated, type Stated } from './stated.ts';
import type { Around, Told } from './told.ts';

/** One Condition's statement about a problem. */
export interface ProblemSource<Of extends Told = Told> extends Stated<Of> {
  /** Where in the body, in words. */
  readonly site: string | undefined;
}

export interface Problem<Of extends Told = Told> extends Omit<ProblemSource<Of>, 'told'> {
  /** Newest first; the first source is the lead. */
  readonly sources: readonly ProblemSource<Of>[];
  /** The source with the earliest date, which says when the problem began according to the record. */
  readonly oldest: ProblemSource<Of>;
}

/** Reads one Condition's statement. */
export function readProblemSource<Of extends Told>(told: Of, around: Around): ProblemSource<Of> {
  const { bodySite } = told.value;
  return { ...readStated(told, around), site: bodySite === undefined ? undefined : around.name(bodySite) };
}

/**
 * Joins what Conditions state about the same problem.
 * @returns active ones first; newest first within each
 */
export function joinProblems<Of extends Told>(sources: readonly ProblemSource<Of>[]): Problem<Of>[] {
  return groupProblems(sources).map(joinProblem).sort(activeFirst);
}

/**
 * Groups Conditions that state the same problem: those with the same name, body site and certainty that are all active, or
 * have all ended. So a different text or site isn't lost when many problems have the same code.
 */
export function groupProblems<Of extends Told>(sources: readonly ProblemSource<Of>[]): ProblemSource<Of>[][] {
  return joinSame(sources, ({ name = '', site, isOver, isBeforeDeath, uncertainty }) =>
    [foldName(name), site, isOver, isBeforeDeath, uncertainty, ''].join('\n'),
  );
}

/** Joins the sources of one problem. */
export function joinProblem<Of extends Told>(group: ProblemSource<Of>[]): Problem<Of> {
  const sources = group.sort((a, b) => newestFirst(a, b) || (a.told.id < b.told.id ? 1 : -1));
  const [lead] = sources;
  if (lead === undefined) throw new TypeError('a problem has no source');
  const oldest = sources.findLast(({ dated }) => dated.date !== null && dated.means !== 'recorded') ?? lead;
  const { told: _, ...said } = lead;
  // A source without a status doesn't hide another source's status.
  const { status } = sources.find((each) => each.status !== undefined) ?? lead;
  return { ...said, status, sources, oldest, revisions: sources.flatMap(({ revisions }) => revisions) };
}

/** Orders problems: active ones first; newest first within each. */
export function activeFirst(a: Problem, b: Problem): number {
  return Number(a.isOver) - Number(b.isOver) || newestFirst(a, b);
}
