/**
 * Shows a summary for printing or saving as a PDF: the current facts, starting with allergies and medicines, and the newest
 * results.
 */
import type { ClinicalEntry } from '#queries/rest/clinical-entries.ts';
import type { ListName } from '#src/clinical/reading/reading.ts';
import { type Html, html } from '#src/shared/html.ts';
import { findRange } from '../reading/judgement.ts';
import { authorText } from '../reading/kinds.ts';
import type { Known } from '../reading/known.ts';
import { graveness, groupMeasures, type Measure, observationsOfEachKind } from '../reading/measures.ts';
import { originText, readOrigins } from '../reading/origins.ts';
import { withValueChanges } from '../reading/value-changes.ts';
import { whenMeasured } from '../reading/values.ts';
import { renderAiPart } from './entries.ts';
import { listsPart } from './known/health.ts';
import { readKnown } from './known/read-known.ts';
import type { PatientPage } from './page.ts';
import type { OpenRecord } from './records.ts';
import { judgementBadge } from './results/judgement-badge.ts';
import { besidePart, markedValue, noteRow, statusBadge } from './results/result-parts.ts';
import { resultSource } from './results/result-source.ts';
import { renderRange } from './results/values.ts';
import type { Visit } from './visit.ts';

/**
 * Returns the page.
 * @throws Refusal
 */
export async function printPage(visit: Visit, record: OpenRecord): Promise<PatientPage> {
  const { say } = visit;
  const known = await readKnown(visit, record);
  const { observations } = await observationsOfEachKind(resultSource(visit, record));
  const measures = await withValueChanges(say, groupMeasures(say, observations), visit.deps.pages.replaced);
  const notes = measures.flatMap((measure) => measure.notes);
  const told = toldIn(known.facts);
  const caller = await visit.api.callerFor(record);
  const origins = await readOrigins(visit.deps.services, caller, say, told);
  const findOrigin = (id: string): string => originText(origins(id));
  const numbers = known.person.identifiers.map(({ value, kind }) =>
    kind === undefined ? value : `${kind}: ${value}`,
  );
  return {
    title: say('print.title'),
    record,
    numbers,
    back: { path: record.path, text: say('nav.overview') },
    body: html`<p class="note onscreen">${say('print.how')}</p>
<p class="quiet small">${say('print.scope')}</p>
${listsPart({ visit, record, known, say, findOrigin }, known, (past, counted, list) => pastPart(say, past, counted, list))}<section class="stack">
<h2 id="results">${say('print.results')}</h2>
${resultsPart(say, measures)}${await renderAiPart(visit, 'results-ai', notes, (note) => noteRow(visit, record, note))}</section>`,
  };
}

/** Maximum number of past medicines that are printed, newest first. */
const MOST_PAST = 50;

/** Returns the past medicines. For other lists, returns how many past entries aren't printed. */
function pastPart(say: Visit['say'], past: readonly Html[], counted: string, list: ListName): Html {
  if (past.length === 0) return html``;
  if (list !== 'medicines')
    return html`<p class="quiet small">${say('print.past', { past: counted })}</p>
`;
  const more =
    past.length > MOST_PAST
      ? html`<p class="quiet small">${say('known.morepast', { more: past.length - MOST_PAST })}</p>
`
      : html``;
  return html`<h3>${counted}</h3>
<ul class="rows">
${past.slice(0, MOST_PAST)}</ul>
${more}`;
}

/** Returns the entries on which statements are based. */
function toldIn({ absences, ...facts }: Known['facts']): ClinicalEntry[] {
  return [
    ...Object.values(absences).flatMap((all) => all.flatMap(({ sources }) => sources)),
    ...facts.allergies.map(({ told }) => told),
    ...[...facts.medicines, ...facts.problems].flatMap(({ sources }) => sources.map(({ told }) => told)),
    ...facts.vaccinations.flatMap(({ doses }) => doses.map(({ told }) => told)),
  ];
}

/** Returns the latest result of each kind. Results out of range come first, most severe first. */
function resultsPart(say: Visit['say'], measures: readonly Measure[]): Html {
  const newest = measures.flatMap(({ name, latest: first, failed, beside, changed }) =>
    first === undefined ? [] : [{ name, first, failed, beside, changed }],
  );
  if (newest.length === 0) return html`<p class="quiet">${say('results.none')}</p>`;
  const rows = newest
    .toSorted((a, b) => graveness(b.first) - graveness(a.first))
    .map(({ name, first, failed, beside, changed }) => {
      const range = findRange(first);
      const rangeCell =
        range === undefined
          ? html`<td role="cell" class="none">–</td>`
          : html`<td role="cell" data-name="${say('results.range')}">${renderRange(say, range)}</td>`;
      return html`<tr role="row"><th scope="row" role="rowheader"><bdi>${name}</bdi></th>
<td role="cell">${markedValue(say, first)} ${judgementBadge(say, first)} ${statusBadge(say, first)}</td>
${rangeCell}<td role="cell">${whenMeasured(say, first)}${besidePart(say, { failed, beside, changed })} <span class="by quiet small">${authorText(say, first.author_type)}</span></td></tr>
`;
    });
  const head = [say('element.what'), say('results.value'), say('results.range'), say('results.day')];
  // On a phone, each row is a block. With the roles, it is still a table for people who use a screen reader.
  return html`<table role="table" class="printed" aria-labelledby="results">
<thead role="rowgroup"><tr role="row">${head.map((name) => html`<th scope="col" role="columnheader">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">
${rows}</tbody>
</table>
`;
}
