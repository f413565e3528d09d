/** The order of a section, and which entries it has when there are too many. */
import { happenedAt } from './dates.ts';
import { codings, text } from './parts.ts';
import type { Source, Stored } from './source.ts';

/** A resource that may be an entry, as long as that is not decided: without all that it says, which takes much room. */
export interface Candidate {
  readonly stored: Stored;
  /** When what it tells of happened. */
  readonly at: number;
  /** What it is about: its first code, or its words. */
  readonly code: string;
  /** Only the newest with the same word is in the section. */
  readonly single: string | undefined;
}

/** The candidate that a resource is. */
export function candidateOf(stored: Stored, source: Source, single: string | undefined): Candidate {
  return { stored, at: happenedAt(source), code: codeOf(source), single };
}

/** Newest first; of the same moment the one that was recorded later (ids are UUIDv7). Those without a date come last. */
export function newestFirst(candidates: readonly Candidate[]): Candidate[] {
  return [...candidates].sort((a, b) => (a.at === b.at ? (a.stored.id < b.stored.id ? 1 : -1) : b.at - a.at));
}

/**
 * At most so many: the newest of each code, so that no kind of finding is crowded out by another that is repeated often,
 * then whatever is newest.
 * @param candidates in the section's order, which stays.
 */
export function capped(candidates: readonly Candidate[], cap: number): readonly Candidate[] {
  if (candidates.length <= cap) return candidates;
  const seen = new Set<string>();
  const [latest, others]: [Candidate[], Candidate[]] = [[], []];
  for (const candidate of candidates) {
    (seen.has(candidate.code) ? others : latest).push(candidate);
    seen.add(candidate.code);
  }
  const kept = new Set([...latest, ...others].slice(0, cap));
  return candidates.filter((candidate) => kept.has(candidate));
}

/** The members of resources that say what they are about. */
export const CODED_BY = ['code', 'vaccineCode', 'category'] as const;

function codeOf({ type, value }: Source): string {
  const about = value.code ?? value.vaccineCode ?? value.category;
  const [coding] = codings(about);
  if (coding !== undefined) return `${text(coding.system) ?? ''}|${text(coding.code) ?? ''}`;
  return `${type} ${JSON.stringify(about)}`;
}
