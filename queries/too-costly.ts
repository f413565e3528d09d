/** Refuses questions that the database stopped because they took too long (docs/spec/decisions.md, section 2). */
import { cut } from '#src/shared/cut.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** SQLSTATE query_canceled: `statement_timeout` (PostgreSQL documentation, Appendix A). */
const CANCELED = '57014';

/** Maximum number of conditions that an answer names. */
const NAMED = 5;

/** Questions → their costly part, as clients know it. */
const PARTS: Readonly<Record<string, string>> = {
  search: 'the search',
  include: 'reading what _include and _revinclude name',
  everything: 'reading the record for $everything',
  summarize: 'reading the record for $summary',
  tellContext: 'reading the record for the context',
  series: 'reading the values of the series',
  patterns: 'reading the values of the record for its patterns',
  comparison: 'reading the values of the periods',
  items: 'reading the list',
  timeline: 'reading the timeline',
  history: 'reading the history',
  searchProvenance: 'the search for Provenances',
  findCodes: 'the search for codes',
};

/** Questions that lead to one row: if these take too long, the database is as good as away. */
const QUICK: ReadonlySet<string> = new Set(['apiKey', 'read', 'newestVersion', 'readMarked', 'marks']);

/** Tells whether the server stopped a statement because it took too long. */
export function isCanceled(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === CANCELED;
}

/**
 * Returns the refusal of a question that takes too long.
 * @param part its costly part
 * @param advice what to do
 */
export function tooCostly(part: string, advice = 'ask for less, for example a shorter period'): Refusal {
  const diagnostics = `${part} takes the database longer than one statement may take; ${advice}`;
  return new Refusal('too_large', { code: 'too-costly', diagnostics });
}

/**
 * Returns the refusal of a search that takes too long.
 * @param checked the conditions that are checked for each resource that is read, as they were written
 * @param leading the conditions whose matches are read
 */
export function costlySearch(checked: readonly string[], leading: readonly string[]): Refusal {
  const dear = checked.length > 0 ? checked : leading;
  const named = [...new Set(dear)].filter((_, n) => n < NAMED).map((one) => cut(one, 100));
  const advice = 'add a condition that few resources fulfil, for example patient';
  if (named.length === 0) return tooCostly('counting or sorting all resources of the type', advice);
  const why = checked.length > 0 ? 'has to be checked for too many resources' : 'matches too many resources';
  return tooCostly(`the search (${named.join(' and ')} ${why})`, advice);
}

/** Runs a question. @throws Refusal too_large (413) if the database stopped it because it took too long */
export async function refuseCostly<T>(question: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!isCanceled(error) || QUICK.has(question)) throw error;
    throw tooCostly(PARTS[question] ?? 'the request');
  }
}
