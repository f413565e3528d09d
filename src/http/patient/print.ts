/** A summary to print or to save as a PDF: what holds now, allergies and medicines first, and the newest results. */
import { type Html, html } from '#src/shared/html.ts';
import { aiPartOf } from './entries.ts';
import { listsPart } from './health.ts';
import { judgementBadge, rangeOf } from './judgement.ts';
import { readKnown } from './known.ts';
import { graveness, type Measure, measuresOf, observationsOfEachKind } from './measures.ts';
import type { PatientPage } from './page.ts';
import type { OpenRecord } from './records.ts';
import { markedValue, noteRow, statusBadge, whenText } from './result-parts.ts';
import { rangeText } from './values.ts';
import type { Visit } from './visit.ts';

/** Returns the page. @throws Refusal */
export async function printPage(visit: Visit, record: OpenRecord): Promise<PatientPage> {
  const { say } = visit;
  const known = await readKnown(visit, record);
  const { observations } = await observationsOfEachKind(visit, record);
  const measures = measuresOf(say, observations);
  const notes = measures.flatMap((measure) => measure.notes);
  const over = (past: readonly Html[]): Html =>
    past.length === 0
      ? html``
      : html`<p class="quiet small">${say('print.past', { entries: past.length })}</p>
`;
  return {
    title: say('print.title'),
    record,
    back: { path: record.path, text: say('nav.overview') },
    body: html`<p class="note onscreen">${say('print.how')}</p>
<p class="quiet small">${say('print.scope')}</p>
${listsPart({ visit, record, known }, known, over)}<section class="stack">
<h2 id="results">${say('print.results')}</h2>
${resultsPart(say, measures)}${await aiPartOf(visit, 'results-ai', notes, (note) => noteRow(visit, record, note))}</section>`,
  };
}

/** Returns the newest value of each kind: what is out of its range first, the gravest of all before. */
function resultsPart(say: Visit['say'], measures: readonly Measure[]): Html {
  const newest = measures.flatMap(({ name, facts: [first] }) =>
    first === undefined ? [] : [{ name, first }],
  );
  if (newest.length === 0) return html`<p class="quiet">${say('results.none')}</p>`;
  const rows = newest
    .toSorted((a, b) => graveness(b.first) - graveness(a.first))
    .map(({ name, first }) => {
      const range = rangeOf(first);
      return html`<tr><th scope="row"><bdi>${name}</bdi></th>
<td>${markedValue(say, first)} ${judgementBadge(say, first)} ${statusBadge(say, first)}</td>
<td>${range === undefined ? html`–` : rangeText(say, range)}</td><td>${whenText(say, first)}</td></tr>
`;
    });
  return html`<div class="scroll" tabindex="0" role="region" aria-labelledby="results">
<table class="printed">
<thead><tr><th scope="col">${say('element.what')}</th><th scope="col">${say('results.value')}</th><th scope="col">${say('results.range')}</th><th scope="col">${say('results.day')}</th></tr></thead>
<tbody>
${rows}</tbody>
</table>
</div>
`;
}
