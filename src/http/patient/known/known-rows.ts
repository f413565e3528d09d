/** Renders the rows for a record's allergies, medicines, problems and vaccinations. */
import type { ClinicalEntry } from '#queries/rest/clinical-entries.ts';
import { type Html, html } from '#src/shared/html.ts';
import type { KnownLine, LinePlace } from '../../reading/known-lines.ts';
import { originAfter, originLink } from '../entries.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';

/** The inputs of rows. */
export interface RowPlace extends LinePlace {
  readonly visit: Visit;
  readonly record: OpenRecord;
  /** Returns who entered an entry, and where it came from; set for a page whose links can't be followed. */
  readonly findOrigin?: (id: string) => string;
}

/** Returns the row for a line. All sources after the first are collapsed, each with its own statement. */
export function renderKnownRow(
  { visit, record, say, findOrigin }: RowPlace,
  { title, badges, details, sources }: KnownLine,
): Html {
  const [lead, ...others] = sources;
  const linkTo = ({ type, id }: ClinicalEntry): string => `${type}/${id}`;
  const link = lead === undefined ? html`` : originAfter(visit, record, linkTo(lead.entry), title);
  const origin =
    findOrigin === undefined || lead === undefined
      ? html``
      : html`<p class="quiet small"><bdi>${findOrigin(lead.entry.id)}</bdi></p>
`;
  const more =
    others.length === 0
      ? html``
      : html`<details class="sources"><summary>${say('known.others', { entries: others.length })}</summary>
<ul class="bullets small">
${others.map(
  ({
    entry,
    says,
  }) => html`<li>${says.map((each) => html`<bdi>${each}</bdi> · `)}${originLink(visit, record, linkTo(entry), title)}</li>
`,
)}</ul></details>
`;
  return html`<li><p class="row-top"><strong><bdi>${title}</bdi></strong> <span>${badges.map(([kind, words]) => html`<span class="badge ${kind}"><span class="first">${words}</span></span> `)}</span></p>
<p class="quiet small">${details.map((detail, n) => html`${n === 0 ? '' : ' · '}<bdi>${detail}</bdi>`)}${link}</p>
${origin}${more}</li>
`;
}
