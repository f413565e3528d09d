/** Shows what a reader of a record was shown: the response, reproduced from its receipt (docs/receipts.md). */
import { cut } from '#src/shared/cut.ts';
import { type Html, html } from '#src/shared/html.ts';
import { isObject, type Json, parseJson } from '#src/shared/json/json.ts';
import type { PatientPage } from '../page.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';

/** Maximum length of a response on the page, in characters. If part of it is left out, the page says so. */
const MOST = 200_000;

/**
 * Returns the page for a receipt.
 * @throws Refusal not_found (404)
 */
export async function shownPage(visit: Visit, record: OpenRecord, id: string): Promise<PatientPage> {
  const { say } = visit;
  const receipt = await visit.api.me('GET', '/me/patients/{patient_id}/receipts/{receipt_id}', {
    patient_id: record.record,
    receipt_id: id,
  });
  const { content, outcome, sha256, made_at } = receipt;
  const told =
    outcome === 'matches' ? say('shown.matches') : say(outcome === 'gone' ? 'shown.gone' : 'shown.differs');
  return {
    title: say('shown.title'),
    lead: html`${say('shown.lead')}`,
    record,
    section: 'log',
    back: { path: `${record.path}/log`, text: say('nav.log') },
    body: html`<p><time datetime="${made_at}">${say.moment(Date.parse(made_at))}</time></p>
<p role="status">${told}</p>
${content === null ? html`` : contentPart(content, say('shown.whole'))}
<p class="quiet small">${say('shown.fingerprint')}: <span class="mono" dir="ltr">${sha256}</span></p>`,
  };
}

function contentPart(content: string, whole: string): Html {
  const texts = listTexts(content);
  const all = html`<pre class="mono" dir="ltr" tabindex="0">${cut(content, MOST)}</pre>`;
  if (texts.length === 0) return all;
  return html`<pre dir="auto" tabindex="0">${texts.join('\n\n')}</pre>
<details><summary>${whole}</summary>
${all}</details>`;
}

/** Returns the texts for a model if the response is a context or a tool's result; otherwise an empty list. */
function listTexts(content: string): string[] {
  const json = /^data: (.*)$/m.exec(content)?.[1] ?? content;
  try {
    const { value } = parseJson(json);
    if (!isObject(value)) return [];
    const { result, text } = value;
    if (typeof text === 'string') return [text];
    const blocks: Json | undefined = isObject(result) ? result.content : undefined;
    return Array.isArray(blocks)
      ? blocks.flatMap((block) => (isObject(block) && typeof block.text === 'string' ? [block.text] : []))
      : [];
  } catch {
    return [];
  }
}
