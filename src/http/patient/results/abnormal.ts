/** Shows a record's latest abnormal results, on the record's first page. */
import { type Html, html } from '#src/shared/html.ts';
import {
  abnormalAmong,
  groupMeasures,
  type Measure,
  newestOfEachKind,
  unjudgedAmong,
} from '../../reading/measures.ts';
import { withValueChanges } from '../../reading/value-changes.ts';
import { whenMeasured } from '../../reading/values.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';
import { judgementBadge } from './judgement-badge.ts';
import { besidePart, markedValue, measureUrl, statusBadge } from './result-parts.ts';
import { resultSource } from './result-source.ts';

/** Maximum number of results that are listed; the results page has all of them. */
const NAMED = 8;

/**
 * Returns the kinds of results whose latest result is abnormal, most severe first, then newest first: name, value, judgement,
 * day. It says that no result is abnormal only if the newest value of each kind was read; in that case it also says how many
 * kinds can't be judged.
 */
export async function abnormalPart(visit: Visit, record: OpenRecord): Promise<Html> {
  const { say } = visit;
  const { observations, isWhole } = await newestOfEachKind(resultSource(visit, record));
  const kinds = groupMeasures(say, observations).filter(({ facts }) => facts.length > 0);
  if (kinds.length === 0 && isWhole) return html`<p class="quiet">${say('results.none')}</p>`;
  const abnormal = abnormalAmong(kinds);
  const unjudged = unjudgedAmong(kinds);
  const open =
    unjudged.length === 0
      ? html``
      : html` <span class="quiet">${say('results.unjudged', { kinds: unjudged.length })}</span>`;
  if (abnormal.length === 0)
    return unjudged.length === kinds.length && isWhole
      ? html`<p>${say('results.nonejudged')}</p>`
      : html`<p class="quiet">${say(isWhole ? 'results.noneabnormal' : 'results.noneseen')}${open}</p>`;
  const more =
    abnormal.length > NAMED
      ? html`<p><a href="${visit.to(`${record.path}/results`)}">${say('overview.more', { more: abnormal.length - NAMED })}</a></p>`
      : html``;
  const shown = await withValueChanges(say, abnormal.slice(0, NAMED), visit.deps.pages.replaced);
  return html`<ul class="bullets">
${shown.map((measure) => row(visit, record, measure))}</ul>${more}`;
}

function row(visit: Visit, record: OpenRecord, measure: Measure): Html {
  const { say } = visit;
  const { latest } = measure;
  if (latest === undefined) return html``;
  return html`<li><a href="${measureUrl(visit, record, measure)}"><bdi>${measure.name}</bdi></a> ${markedValue(say, latest)} ${judgementBadge(say, latest)} ${statusBadge(say, latest)} <span class="quiet small">${whenMeasured(say, latest)}</span>${besidePart(say, measure)}</li>
`;
}
