/** Reads results from stored versions, in the form that REST v1 lists and the pages show. */
import { readJudged } from '#queries/rest/interpretations.ts';
import type { StoredResult } from '#queries/rest/newest-results.ts';
import { hasModifier, withdrawnAs } from '#src/clinical/reading/status.ts';
import { bareCodes, type Displays, withDisplays } from '#src/clinical/summary/displays.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { shownObservation } from '#src/v1/observation.ts';
import { type Observation, readObservation } from './measures.ts';

/** Results, and separately the results that can't be interpreted. */
export interface ReadResults {
  readonly observations: readonly Observation[];
  /** Results with a modifier extension, as `Observation/<id>`. */
  readonly modified: readonly string[];
}

/** Reads results. Results that were entered in error or refuted are left out. */
export async function readResults(
  results: readonly StoredResult[],
  displays: (codes: ReturnType<typeof bareCodes>) => Promise<Displays>,
): Promise<ReadResults> {
  const stated = results.filter(({ value }) => withdrawnAs(value) === undefined);
  const [modified, plain] = [true, false].map((is) =>
    stated.filter(({ value }) => hasModifier(value) === is),
  );
  const names = await displays(bareCodes((plain ?? []).map(({ value }) => value)));
  return {
    observations: (plain ?? []).map((each) => readResult(each, names)),
    modified: (modified ?? []).map(({ id }) => `Observation/${id}`),
  };
}

/**
 * Reads one result.
 * @param names names for the result's codes that have no text
 */
export function readResult({ id, value, recorded, author }: StoredResult, names: Displays): Observation {
  const named: JsonObject = withDisplays({ value }, names).value;
  const created = new Date(recorded).toISOString();
  const shown = { ...shownObservation(named), id, fhir: `Observation/${id}` };
  return { ...readObservation({ ...shown, author_type: author, created_at: created }), ...readJudged(value) };
}
