/** Shows results in the timeline as on the results page: with everyday name, value and judgement. */
import { bareCodes, withDisplays } from '#src/clinical/summary/displays.ts';
import { type Html, html } from '#src/shared/html.ts';
import { parseStored } from '#src/shared/json/json.ts';
import { shownObservation } from '#src/v1/observation.ts';
import { judge } from '../../reading/judgement.ts';
import { beside, type Observation, readObservation } from '../../reading/measures.ts';
import { splitStates } from '../../reading/summary-words.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';
import { judgementBadge } from './judgement-badge.ts';
import { markedValue } from './result-parts.ts';

/** The timeline's data about an entry. */
interface Entry {
  readonly fhir: string;
  readonly kind: string;
  readonly author_type: string;
  readonly summary: string | null;
}

/** Reads the observations among timeline entries, by `Observation/id`. Observations that are too large are left out. */
export async function resultsAmong(
  { deps }: Visit,
  { record }: OpenRecord,
  entries: readonly Entry[],
): Promise<ReadonlyMap<string, Observation>> {
  const found = new Map(
    entries.flatMap((each) =>
      each.kind === 'observation' ? [[each.fhir.slice('Observation/'.length), each]] : [],
    ),
  );
  const ids = [...found.keys()];
  const [bodies, said] = await Promise.all([
    deps.pages.entryContents.referred(record, ids),
    deps.pages.interpretations(ids),
  ]);
  const values = [...bodies].map(([fhir, body]) => [fhir, parseStored(body)] as const);
  const names = await deps.services.displays(bareCodes(values.map(([, value]) => value)));
  return new Map(
    values.map(([fhir, value]) => {
      const id = fhir.slice('Observation/'.length);
      const shown = shownObservation(withDisplays({ value }, names).value);
      const author = found.get(id)?.author_type;
      const read = readObservation({ ...shown, id, fhir, author_type: author, created_at: '' });
      return [fhir, { ...read, ...beside(said.get(id)) }];
    }),
  );
}

/** Returns a result's value with its judgement; undefined if it has no value. A value from an AI isn't marked as normal. */
export function resultText(
  say: Visit['say'],
  result: Observation,
  { kind, summary }: Entry,
): Html | undefined {
  const { value, value_text, value_code, value_boolean, components } = result;
  const isEmpty = [value, value_text, value_code, value_boolean].every((each) => each === null);
  if (isEmpty && components.length === 0) return undefined;
  const states = splitStates(say, kind, summary).states.map(({ label }) => `${label}${say('shl.comma')} `);
  const isUnconfirmed = result.author_type === 'ai' && judge(result)?.grade === 'good';
  return html`${states.join('')}${markedValue(say, result)} ${isUnconfirmed ? html`` : judgementBadge(say, result)}`;
}
