/** Shows what was taken back in a record, why and when, and the affected entries. */
import type { OwnTakeback } from '#queries/rest/own-takebacks.ts';
import { type Html, html } from '#src/shared/html.ts';
import type { Texts } from '../../pages/texts.ts';
import { typeText } from '../../reading/kinds.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';

/** Returns this part of the page; empty if nothing was taken back. */
export async function takenBackPart(visit: Visit, record: OpenRecord): Promise<Html> {
  const { say, deps } = visit;
  const all = await deps.pages.ownTakebacks(record.record);
  if (all.length === 0) return html``;
  return html`<section class="stack" aria-labelledby="takenback">
<h2 id="takenback">${say('takenback.title')}</h2>
<p class="quiet">${say('takenback.lead')}</p>
<ul class="cards">
${all.map((each) => card(visit, record, each))}</ul>
</section>
`;
}

function card(visit: Visit, record: OpenRecord, takeback: OwnTakeback): Html {
  const { say } = visit;
  const { at, reason, undone_at, entries, total } = takeback;
  const why =
    reason === null
      ? html``
      : html`
<p>${say.html('takenback.reason', { reason: html`<bdi>${reason}</bdi>` })}</p>`;
  const undone =
    undone_at === null
      ? html``
      : html`
<p><span class="badge plain">${say('takenback.undone', { day: say.day(undone_at / 1_000) })}</span></p>`;
  return html`<li class="card">
<h3>${selectionText(say, takeback)}</h3>
<p class="quiet small">${say.day(at / 1_000)} · ${say('log.entries', { entries: total })}</p>${why}${undone}
<ul class="rows">
${entries.map(
  ({ type, id }) =>
    html`<li><a href="${visit.to(`${record.path}/entries/${encodeURIComponent(type)}/${encodeURIComponent(id)}`)}">${typeText(say, type)}</a></li>
`,
)}</ul>
</li>
`;
}

/** Returns in words what was selected. */
function selectionText(say: Texts, { source, author }: OwnTakeback): Html {
  if (source !== null) return say.html('takenback.source', { name: html`<bdi>${source}</bdi>` });
  if (author === 'patient' || author === 'practitioner' || author === 'device')
    return html`${say('takenback.author', { author: say(`author.${author}`) })}`;
  return html`${say(author === 'ai' ? 'takenback.ai' : 'takenback.program')}`;
}
