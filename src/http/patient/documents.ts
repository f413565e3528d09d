/** Shows a record's documents, and serves their bytes through the service. */
import { type Html, html } from '#src/shared/html.ts';
import { notFound } from '#src/shared/refusal.ts';
import type { TextKey } from '../pages/languages/language.ts';
import { dateText } from '../reading/day-text.ts';
import { originAfter, renderAiPart, rowsOr, splitByAuthor } from './entries.ts';
import type { Api } from './own-api.ts';
import type { Outcome, PatientPage } from './page.ts';
import type { OpenRecord } from './records.ts';
import type { Visit } from './visit.ts';

/** Number of documents on a page. */
const LIMIT = 25;

type Document = Api.Document;

const KINDS = {
  lab_report: 'document.lab',
  discharge_summary: 'document.discharge',
  prescription: 'document.prescription',
  imaging_report: 'document.imaging',
  referral: 'document.referral',
  other: 'document.other',
} as const satisfies Readonly<Record<string, TextKey>>;

/**
 * Returns the page.
 * @throws Refusal
 */
export async function documentsPage(visit: Visit, record: OpenRecord): Promise<PatientPage> {
  const { say } = visit;
  const cursor = visit.asked('cursor');
  const { data, next_cursor } = await visit.api.read(
    record,
    { action: 'search-type', resourceType: 'DocumentReference' },
    '/v1/patients/{patient_id}/documents',
    { patient_id: record.record, limit: LIMIT, cursor },
  );
  const { facts, notes } = splitByAuthor(data);
  const row = (each: Document): Html => renderRow(visit, record, each);
  const more =
    next_cursor === null
      ? html``
      : html`<p class="pager"><a class="button second small" href="${visit.to(`${record.path}/documents`, { cursor: next_cursor })}">${say('list.older')}</a></p>`;
  return {
    title: say('nav.documents'),
    record,
    section: 'documents',
    body: html`${data.length === 0 ? html`<div class="empty"><p>${say('document.none')}</p></div>` : rowsOr(facts.map(row), say('document.none'))}
${await renderAiPart(visit, 'ai', notes, row)}${more}`,
  };
}

function renderRow(visit: Visit, record: OpenRecord, each: Document): Html {
  const { say } = visit;
  const title = each.title ?? say('document.untitled');
  const kind = Object.entries(KINDS).find(([name]) => name === each.kind)?.[1] ?? 'document.other';
  const details = [
    say(kind),
    ...(each.date === null ? [] : [dateText(say, each.date)]),
    ...(each.size === null ? [] : [sizeText(say, each.size)]),
  ];
  const url = visit.to(`${record.path}/documents/${encodeURIComponent(each.id)}/content`);
  const save =
    each.status === 'final'
      ? html`<a class="button second small" href="${url}">${say('document.save')}<span class="visually-hidden">: <bdi>${title}</bdi></span></a>`
      : html`<span class="badge plain">${say('document.pending')}</span>`;
  return html`<li><p class="row-top"><span><strong><bdi>${title}</bdi></strong><br>
<span class="quiet small">${details.join(' · ')}${originAfter(visit, record, each.fhir, title)}</span></span> ${save}</p>
${
  each.description === null
    ? html``
    : html`<p><bdi>${each.description}</bdi></p>
`
}</li>
`;
}

/** Returns a size in kilobytes or megabytes. */
export function sizeText({ lang }: Visit['say'], bytes: number): string {
  const isLarge = bytes >= 1_000_000;
  return new Intl.NumberFormat(lang, {
    style: 'unit',
    unit: isLarge ? 'megabyte' : 'kilobyte',
    maximumFractionDigits: isLarge ? 1 : 0,
  }).format(isLarge ? bytes / 1_000_000 : Math.max(1, bytes / 1_000));
}

/**
 * Returns a document's bytes as a download; they are never shown as a page.
 * @throws Refusal not_found (404)
 */
export async function documentContent(visit: Visit, record: OpenRecord, id: string): Promise<Outcome> {
  const asked = { doc_id: id };
  // The route finds documents in the whole project, not only in this record.
  const { patient } = await visit.api.read(record, null, '/v1/documents/{doc_id}', asked);
  if (patient !== record.record) throw notFound('DocumentReference', id.slice(0, 64));
  const read = { action: 'read', resourceType: 'DocumentReference', resourceId: id.toLowerCase() };
  const {
    status,
    headers = {},
    content,
  } = await visit.api.content(record, read, '/v1/documents/{doc_id}/content', asked);
  if (content === undefined) throw notFound('the content of DocumentReference', id.slice(0, 64));
  return { download: { status, headers, content } };
}
