/** Renders a record's entries: facts in one list, and an AI's notes in another list, where they are marked as unverified. */
import { type Html, html } from '#src/shared/html.ts';
import type { OpenRecord } from './records.ts';
import type { Visit } from './visit.ts';

/** Splits entries by author, because values from an AI must never be among the facts (docs/spec/interface.md, section 2.5). */
export function splitByAuthor<T extends { readonly author_type: string }>(
  entries: readonly T[],
): { readonly facts: readonly T[]; readonly notes: readonly T[] } {
  return {
    facts: entries.filter(({ author_type }) => author_type !== 'ai'),
    notes: entries.filter(({ author_type }) => author_type === 'ai'),
  };
}

/**
 * Returns a section with an AI's notes; empty if there are none. It says how many of these entries were originally made by
 * somebody other than an AI, because these are missing from the facts (docs/decisions/0025-changed-by-ai-is-said.md).
 * @param id unique on the page; within a section, `<id of its heading>-ai`
 * @param rows one for each entry
 * @param changed how many of the entries an AI changed
 */
export function aiPart({ say }: Visit, id: string, rows: readonly Html[], changed: number): Html {
  if (rows.length === 0) return html``;
  // Within a section, the label includes the section's heading, to distinguish this part from the AI parts of other sections.
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
${rows}</ul>
</section>
`;
}

/**
 * Returns the same section as `aiPart`, for REST v1 entries.
 * @param row returns the row for an entry
 */
export async function renderAiPart<T extends { readonly fhir: string }>(
  visit: Visit,
  id: string,
  notes: readonly T[],
  row: (note: T) => Html,
): Promise<Html> {
  if (notes.length === 0) return html``;
  const { size } = await visit.deps.pages.changedByAi(notes.map(({ fhir }) => fhir));
  return aiPart(visit, id, notes.map(row), size);
}

/** An entry that an AI withdrew. */
interface Withdrawn {
  readonly type: string;
  readonly id: string;
  readonly name: string;
}

/**
 * Returns the part about entries by others that an AI marked as wrong or refuted; empty if there are none. These entries
 * aren't in any list.
 * @param withdrawn the withdrawn entries of the types in a list
 */
export function withdrawnPart(visit: Visit, record: OpenRecord, withdrawn: readonly Withdrawn[]): Html {
  if (withdrawn.length === 0) return html``;
  const rows = withdrawn.map(({ type, id, name }) => {
    return html`<li><bdi>${name}</bdi>${originAfter(visit, record, `${type}/${id}`, name)}</li>
`;
  });
  return html`<div class="note warn"><p>${visit.say('ai.withdrawn', { entries: withdrawn.length })}</p>
<ul>
${rows}</ul></div>
`;
}

/**
 * Returns the link to the page that says who entered something.
 * @param fhir `Type/id`
 * @param of the entry's name, for screen readers
 */
export function originLink(visit: Visit, { path }: OpenRecord, fhir: string, of: string): Html {
  const [type = '', id = ''] = fhir.split('/', 2);
  const url = visit.to(`${path}/entries/${encodeURIComponent(type)}/${encodeURIComponent(id)}`);
  return html`<a class="small" href="${url}">${visit.say('entry.who')}<span class="visually-hidden">: <bdi>${of}</bdi></span></a>`;
}

/** Returns the same link in the form that follows an entry's text. In print, links are left out. */
export function originAfter(visit: Visit, record: OpenRecord, fhir: string, of: string): Html {
  return html`<span class="origin"> · ${originLink(visit, record, fhir, of)}</span>`;
}

/** Returns a list of rows, or the given text if there are none. */
export function rowsOr(rows: readonly Html[], none: string): Html {
  if (rows.length === 0)
    return html`<p class="quiet">${none}</p>
`;
  return html`<ul class="rows">
${rows}</ul>
`;
}
