/** Entries of a record on the pages: facts in one list, and what AI noted in another, marked as not verified. */
import type { WithdrawnByAi } from '#queries/rest/withdrawn-by-ai.ts';
import { type Html, html } from '#src/shared/html.ts';
import type { OpenRecord } from './records.ts';
import type { Visit } from './visit.ts';

/** Splits entries by their author: values of AI never stand among facts (docs/spec/interface.md, section 2.5). */
export function apart<T extends { readonly author_type: string }>(
  entries: readonly T[],
): { readonly facts: readonly T[]; readonly notes: readonly T[] } {
  return {
    facts: entries.filter(({ author_type }) => author_type !== 'ai'),
    notes: entries.filter(({ author_type }) => author_type === 'ai'),
  };
}

/**
 * Returns a section with what AI noted; nothing if there is none. It says how many of these entries somebody else had made:
 * they are missing among the facts (docs/decisions/0025-changed-by-ai-is-said.md).
 * @param id unique on the page; `<id of a heading>-ai` within a section of that heading
 * @param row returns the row of an entry
 */
export async function aiPart<T extends { readonly fhir: string }>(
  { say, deps }: Visit,
  id: string,
  notes: readonly T[],
  row: (note: T) => Html,
): Promise<Html> {
  if (notes.length === 0) return html``;
  const { size: changed } = await deps.pages.changedByAi(notes.map(({ fhir }) => fhir));
  // Within a section, its heading tells this part from those of other sections.
  const named = id.endsWith('-ai') ? `${id.slice(0, -3)} ${id}` : id;
  return html`<section class="stack card ai" aria-labelledby="${named}">
<h2 class="minor" id="${id}">${say('ai.title')} <span class="badge ai">${say('ai.unverified')}</span></h2>
<p class="quiet small">${say('ai.note')}</p>
${
  changed === 0
    ? html``
    : html`<p class="note warn">${say('ai.changed', { entries: changed })}</p>
`
}<ul class="rows">
${notes.map(row)}</ul>
</section>
`;
}

/**
 * Returns what AI marked as wrong or refuted although somebody else had stated it; nothing if there is none. No list has it.
 * @param withdrawn of the types of a list
 */
export function withdrawnPart(visit: Visit, record: OpenRecord, withdrawn: readonly WithdrawnByAi[]): Html {
  if (withdrawn.length === 0) return html``;
  const rows = withdrawn.map(({ type, id, name = visit.say('entry.unnamed') }) => {
    return html`<li><bdi>${name}</bdi> · ${originLink(visit, record, `${type}/${id}`, name)}</li>
`;
  });
  return html`<div class="note warn"><p>${visit.say('ai.withdrawn', { entries: withdrawn.length })}</p>
<ul>
${rows}</ul></div>
`;
}

/** Returns the link to the page that says who entered something. @param fhir `Type/id` @param of what it is, for screen readers */
export function originLink(visit: Visit, { path }: OpenRecord, fhir: string, of: string): Html {
  const [type = '', id = ''] = fhir.split('/', 2);
  const url = visit.to(`${path}/entries/${encodeURIComponent(type)}/${encodeURIComponent(id)}`);
  return html`<a class="small" href="${url}">${visit.say('entry.who')}<span class="visually-hidden">: <bdi>${of}</bdi></span></a>`;
}

/** Returns a list of rows, or a text where there are none. */
export function rowsOr(rows: readonly Html[], none: string): Html {
  if (rows.length === 0)
    return html`<p class="quiet">${none}</p>
`;
  return html`<ul class="rows">
${rows}</ul>
`;
}
