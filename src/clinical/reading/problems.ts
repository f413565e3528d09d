/** Problems: each once, however many Conditions state it (docs/clinical-reading.md). */
import { newestFirst } from './dates.ts';
import { foldName, joinSame } from './join-same.ts';
import { readStated, type Stated } from './stated.ts';
import type { Around, Told } from './told.ts';

/** The facts of one Condition about a problem. */
export interface ProblemSource<Of extends Told = Told> extends Stated<Of> {
  /** Where in the body, in words. */
  readonly site: string | undefined;
}

export interface Problem<Of extends Told = Told> extends Omit<ProblemSource<Of>, 'told'> {
  /** The newest first; the first one leads. */
  readonly sources: readonly ProblemSource<Of>[];
  /** The source with the earliest date, which says when the problem began, as far as the record has it. */
  readonly oldest: ProblemSource<Of>;
}

/** Reads the statement of one Condition. */
export function readProblemSource<Of extends Told>(told: Of, around: Around): ProblemSource<Of> {
  const { bodySite } = told.value;
  return { ...readStated(told, around), site: bodySite === undefined ? undefined : around.name(bodySite) };
}

/** Joins the statements of Conditions about one problem. @returns active ones first, each the newest first */
export function joinProblems<Of extends Told>(sources: readonly ProblemSource<Of>[]): Problem<Of>[] {
  return groupProblems(sources).map(joinProblem).sort(activeFirst);
}

/**
 * Groups the statements of Conditions about one problem: those with the same name, body site and certainty that are all
 * active, or all over. A different text or site isn't lost behind a code that many problems have.
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
  // One that doesn't say how it stands doesn't hide what another says.
  const { status } = sources.find((each) => each.status !== undefined) ?? lead;
  return { ...said, status, sources, oldest, revisions: sources.flatMap(({ revisions }) => revisions) };
}

/** Orders problems: active ones first, each the newest first. */
export function activeFirst(a: Problem, b: Problem): number {
  return Number(a.isOver) - Number(b.isOver) || newestFirst(a, b);
}
