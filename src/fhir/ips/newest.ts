/** The order of a section, and which entries it has when there are too many. */
import { happenedAt } from './dates.ts';
import { codings, text } from './parts.ts';
import type { Source } from './source.ts';

/** Newest first; of the same moment the one that was recorded later (ids are UUIDv7). Those without a date come last. */
export function newestFirst(sources: readonly Source[]): Source[] {
  return sources
    .map((source) => ({ source, at: happenedAt(source) }))
    .sort((a, b) => (a.at === b.at ? (a.source.id < b.source.id ? 1 : -1) : b.at - a.at))
    .map(({ source }) => source);
}

/**
 * At most so many: the newest of each code, so that no kind of finding is crowded out by another that is repeated often,
 * then whatever is newest.
 * @param sources in the section's order, which stays.
 */
export function capped(sources: readonly Source[], cap: number): readonly Source[] {
  if (sources.length <= cap) return sources;
  const seen = new Set<string>();
  const [latest, others]: [Source[], Source[]] = [[], []];
  for (const source of sources) {
    const code = codeOf(source);
    (seen.has(code) ? others : latest).push(source);
    seen.add(code);
  }
  const kept = new Set([...latest, ...others].slice(0, cap));
  return sources.filter((source) => kept.has(source));
}

/** What a resource is about: its first code, or its words. */
export function codeOf({ type, value }: Source): string {
  const about = value.code ?? value.vaccineCode ?? value.category;
  const [coding] = codings(about);
  if (coding !== undefined) return `${text(coding.system) ?? ''}|${text(coding.code) ?? ''}`;
  return `${type} ${JSON.stringify(about)}`;
}
