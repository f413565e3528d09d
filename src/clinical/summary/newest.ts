/** Orders a section's entries, and chooses among them if there are too many. */

import { codings, text } from '../../fhir/parts.ts';
import { happened } from '../reading/dates.ts';
import type { Source, Stored } from './source.ts';

/**
 * A resource that may become an entry. Until that is decided, only the members needed for the decision are kept, to save
 * memory.
 */
export interface Candidate {
  readonly stored: Stored;
  /** When the resource's event happened. */
  readonly at: number;
  /** The resource's subject: its first code, or its text. */
  readonly code: string;
  /** If set, the section has only the newest candidate with the same value. */
  readonly single: string | undefined;
}

/** Returns the candidate for a resource. */
export function makeCandidate(stored: Stored, source: Source, single: string | undefined): Candidate {
  return { stored, at: happened(source).at, code: codeKey(source), single };
}

/**
 * Returns the candidates, newest first. If two candidates have the same time, the one that was recorded later comes first (ids
 * are UUIDv7). Candidates without a date come last.
 */
export function newestFirst(candidates: readonly Candidate[]): Candidate[] {
  return [...candidates].sort((a, b) => (a.at === b.at ? (a.stored.id < b.stored.id ? 1 : -1) : b.at - a.at));
}

/**
 * Returns at most `cap` candidates: first the newest candidate for each code, so that a frequent kind of finding can't
 * displace others, then the newest of the rest.
 * @param candidates in the section's order, which is kept.
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

/** The members in which `makeCandidate` looks for a resource's code. */
export const CODED_BY = ['code', 'vaccineCode', 'category'] as const;

function codeKey({ type, value }: Source): string {
  const about = value.code ?? value.vaccineCode ?? value.category;
  const [coding] = codings(about);
  if (coding !== undefined) return `${text(coding.system) ?? ''}|${text(coding.code) ?? ''}`;
  return `${type} ${JSON.stringify(about)}`;
}
