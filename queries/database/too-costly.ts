/** Refuses questions that the database stopped because they took too long (docs/spec/decisions.md, section 2). */
import { cut } from '#src/shared/cut.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** SQLSTATE query_canceled: `statement_timeout` (PostgreSQL documentation, Appendix A). */
const CANCELED = '57014';

/** Maximum number of conditions that an answer names. */
const NAMED = 5;

/**
 * Questions that may take long → their costly part, as clients know it. All others lead to one row: if one of those
 * takes too long, the database is practically unavailable.
 */
const PARTS: Readonly<Record<string, string>> = {
  search: 'the search',
  include: 'reading what _include and _revinclude name',
  everything: 'reading the record for $everything',
  summarize: 'reading the record for $summary',
  aiVersions: 'reading which versions an AI wrote',
  tellContext: 'reading the record for the context',
  series: 'reading the values of the series',
  patterns: 'reading the values of the record for its patterns',
  comparison: 'reading the values of the periods',
  items: 'reading the list',
  timeline: 'reading the timeline',
  history: 'reading the history',
  versions: 'reading the versions of the page',
  searchProvenance: 'the search for Provenances',
  findCodes: 'the search for codes',
  accessLogOf: 'reading the access log',
  grantUseOf: 'counting the reads under the grants',
  listRecords: 'reading the list of records',
  listGrants: 'reading the list of grants',
  listLinks: 'reading the list of links',
  listInvitations: 'reading the list of invitations',
  listProposals: 'reading the list of proposals',
  listSharedLinks: 'reading the list of shared links',
  accessRequests: 'reading the list of access requests',
  mutedBy: 'reading the list of muted applications',
  organizations: 'reading the list of organizations',
  members: 'reading the list of members',
  projects: 'reading the list of projects',
  keys: 'reading the list of keys',
  applications: 'reading the list of applications',
  patients: 'reading the list of patients',
  requests: 'reading the request log',
  usage: 'counting the requests',
  endpoints: 'reading the list of endpoints',
  deliveries: 'reading the list of deliveries',
  replay: 'counting the deliveries of the replay',
  sandboxPatients: 'counting the patients of the sandbox',
};

/** Tells whether the server stopped a statement because it took too long. */
export function isCanceled(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === CANCELED;
}

/**
 * Returns the refusal of a question that takes too long.
 * @param part its costly part @param advice the advice for the caller
 */
export function tooCostly(
  part: string,
  advice = 'ask for less, for example a shorter period or a smaller `limit`',
): Refusal {
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

/**
 * Runs a question.
 * @throws Refusal too_large (413) if the database stopped it because it took too long, and it leads to more than one row
 */
export async function refuseCostly<T>(question: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const part = PARTS[question];
    throw part === undefined || !isCanceled(error) ? error : tooCostly(part);
  }
}
