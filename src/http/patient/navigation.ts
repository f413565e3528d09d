/**
 * Renders the list of a record's pages: next to them on a desktop, collapsed above them on a phone. It works without scripts.
 */
import { type Html, html } from '#src/shared/html.ts';
import type { TextKey } from '../pages/languages/language.ts';
import { deathText } from '../reading/day-text.ts';
import { type OpenRecord, recordDetails } from './records.ts';
import type { Visit } from './visit.ts';

/** A record's pages, in order: name, path below the record's path, key of the text. */
const SECTIONS = [
  ['overview', '', 'nav.overview'],
  ['health', '/health', 'nav.health'],
  ['results', '/results', 'nav.results'],
  ['documents', '/documents', 'nav.documents'],
  ['timeline', '/timeline', 'nav.timeline'],
  ['applications', '/applications', 'nav.applications'],
  ['proposals', '/proposals', 'nav.proposals'],
  ['log', '/log', 'nav.log'],
  ['links', '/links', 'nav.links'],
  ['people', '/people', 'nav.people'],
  ['data', '/data', 'nav.data'],
] as const satisfies readonly (readonly [string, string, TextKey])[];

/** A page of a record. */
export type Section = (typeof SECTIONS)[number][0];

/** Returns the list. */
export function navigation(visit: Visit, record: OpenRecord, section: Section | undefined): Html {
  const { say } = visit;
  const items = SECTIONS.map(
    ([name, path, text]) =>
      html`<li><a href="${visit.to(record.path + path)}"${name === section ? html` aria-current="page"` : html``}>${say(text)}</a></li>
`,
  );
  const current = SECTIONS.find(([name]) => name === section)?.[2] ?? 'nav.sections';
  const whose = html`<p class="whose"><bdi>${record.name}</bdi> <small>${recordDetails(say, record)[0] ?? ''}${record.died === undefined ? '' : ` · ${deathText(say, record.died)}`}</small></p>`;
  return html`<nav class="side" aria-label="${say('nav.record')}">
<div class="narrow">${whose}
<details><summary><span><span class="visually-hidden">${say('nav.sections')}: </span>${say(current)}</span></summary>
<ul>
${items}</ul></details></div>
<div class="wide">${whose}
<ul>
${items}</ul></div>
</nav>
`;
}
