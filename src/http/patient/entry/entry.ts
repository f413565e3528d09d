/** Shows an entry: its content, and its versions with what changed, who entered them and when. */
import type { EntryContent } from '#queries/rest/entry-content.ts';
import type { Approval, EntryOrigin } from '#queries/rest/entry-origin.ts';
import { nameConcept } from '#src/clinical/reading/names/name.ts';
import { type Html, html } from '#src/shared/html.ts';
import { notFound } from '#src/shared/refusal.ts';
import { timelineKind } from '#src/v1/timeline.ts';
import { attachmentAs, fileName } from '../../answer/disposition.ts';
import type { TextKey } from '../../pages/languages/language.ts';
import { resultName } from '../../pages/result-names.ts';
import { authorText, typeText } from '../../reading/kinds.ts';
import { titleText } from '../../reading/summary-words.ts';
import type { Api } from '../own-api.ts';
import type { Outcome, PatientPage } from '../page.ts';
import type { OpenRecord } from '../records.ts';
import type { Visit } from '../visit.ts';
import {
  changesPart,
  conceptIn,
  contentPart,
  jsonPart,
  type ReadEntry,
  readEntry,
  titleIn,
} from './entry-content.ts';

type Version = Api.ProvenanceEntry;

const ACTIVITIES = { CREATE: 'entry.create', UPDATE: 'entry.update', DELETE: 'entry.delete' } as const;

const WRITERS = {
  api_key: 'writer.key',
  application: 'writer.application',
  member: 'writer.member',
  organization: 'writer.organization',
  service: 'writer.service',
} as const satisfies Readonly<Record<string, TextKey>>;

/**
 * Returns the page.
 * @throws Refusal not_found (404) for an entry in another record, or for a version that doesn't exist
 */
export async function entryPage(
  visit: Visit,
  record: OpenRecord,
  type: string,
  id: string,
): Promise<PatientPage> {
  const { say, deps } = visit;
  const { data, next_cursor } = await visit.api.read(
    record,
    { action: 'history-instance', resourceType: 'Provenance' },
    '/v1/patients/{patient_id}/provenance/{resource_type}/{resource_id}',
    {
      patient_id: record.record,
      resource_type: type,
      resource_id: id,
      limit: 200,
      cursor: visit.asked('cursor'),
    },
  );
  const content = await deps.pages.entryContents.find(record.record, type, id, {
    shown: versionAsked(visit),
    versions: data.flatMap(({ version }) => [version, version - 1]),
  });
  if (content === undefined) throw notFound(type.slice(0, 64), id.slice(0, 64));
  await visit.api.noteRead(
    record,
    { action: 'history-instance', resourceType: type, resourceId: id },
    data.length,
  );
  const { approvals, ...named } = await deps.pages.entryOrigin(record.record, id);
  const read = await readEntry(visit, record, type, content);
  const concept = named.titleSystem === null ? conceptIn(read) : undefined;
  const name = concept ?? (await findTitle(visit, type, named)) ?? titleIn(read) ?? say('entry.unnamed');
  const path = entryPath(record, type, id);
  const older =
    next_cursor === null
      ? html``
      : html`<p class="pager"><a class="button second small" href="${visit.to(path, { cursor: next_cursor })}">${say('list.older')}</a></p>`;
  return {
    title: name,
    heading: html`<bdi>${name}</bdi>`,
    lead: html`${typeText(say, type)} · ${say('entry.version', { version: content.shown.version, newest: content.newest })}`,
    record,
    back: { path: `${record.path}/timeline`, text: say('nav.timeline') },
    body: html`<section class="stack${content.shown.byAi ? ' card ai' : ''}" aria-labelledby="content">
<h2 id="content">${say('entry.content')}${content.shown.byAi ? html` <span class="badge ai">${say('ai.unverified')}</span>` : html``}</h2>
${notesPart(visit, content, path)}${contentPart(say, read)}
${jsonPart(say, content.shown, visit.to(`${path}/json`, { version: content.shown.version }))}
</section>
<section class="stack" aria-labelledby="versions">
<h2 id="versions">${say('entry.versions')}</h2>
<ul class="cards">
${data.map((version) => versionCard(visit, version, approvals, read, path))}</ul>
${older}<p class="quiet small">${say('list.utc')}</p>
</section>`,
  };
}

function entryPath({ path }: OpenRecord, type: string, id: string): string {
  return `${path}/entries/${encodeURIComponent(type)}/${encodeURIComponent(id)}`;
}

/**
 * Returns the version number in a link.
 * @throws Refusal not_found (404) if the link contains anything else
 */
function versionAsked(visit: Visit): number | undefined {
  const asked = visit.asked('version', 20);
  if (asked === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(asked)) throw notFound('version', asked);
  return Number(asked);
}

/**
 * Returns notes that should be read before the content: whether the entry is deleted, isn't the newest version, or was written
 * by an AI.
 */
function notesPart(visit: Visit, content: EntryContent, path: string): Html {
  const { say } = visit;
  const { newest, shown, human, isDeleted } = content;
  const { byAi } = shown;
  const beside = human === undefined ? html`` : html` ${say('entry.beside', { version: human.version })}`;
  const isOld = shown.version !== newest && !(isDeleted && shown.version === newest - 1);
  return html`${
    isDeleted
      ? html`<p class="note warn">${say('entry.deleted')}</p>
`
      : html``
  }${
    isOld
      ? html`<p class="note warn">${say('entry.older')} <a href="${visit.to(path)}">${say('entry.newest')}</a></p>
`
      : html``
  }${
    byAi
      ? html`<p class="note warn">${say('entry.byai')}${beside}</p>
`
      : html``
  }`;
}

/**
 * Returns a version's FHIR data as a download.
 * @throws Refusal in the same cases as the page
 */
export async function entryJson(
  visit: Visit,
  record: OpenRecord,
  type: string,
  id: string,
): Promise<Outcome> {
  const { pages } = visit.deps;
  const content = await pages.entryContents.whole(record.record, type, id, versionAsked(visit));
  if (content === undefined) throw notFound(type.slice(0, 64), id.slice(0, 64));
  const { version, body } = content;
  await visit.api.noteRead(record, { action: 'vread', resourceType: type, resourceId: id }, 1);
  const { title } = await pages.entryOrigin(record.record, id);
  const name = fileName(`${title ?? type} ${visit.say('entry.number', { version })}`, '').replace(
    /\s+/g,
    '-',
  );
  const headers = {
    'Content-Type': 'application/fhir+json; charset=utf-8',
    'Content-Disposition': attachmentAs(`${name}.json`),
  };
  return { download: { status: 200, headers, body } };
}

async function findTitle(
  { say, deps }: Visit,
  type: string,
  { title, titleSystem: system }: Pick<EntryOrigin, 'title' | 'titleSystem'>,
): Promise<string | undefined> {
  if (title === null) return undefined;
  if (system === null) return titleText(say, timelineKind(type) ?? '', title);
  const names = await deps.services.displays([{ system, code: title }]);
  const display = nameConcept({ coding: [{ system, code: title }] }, names) ?? title;
  return resultName(say, { system, code: title, display });
}

function versionCard(
  visit: Visit,
  version: Version,
  approvals: readonly Approval[],
  read: ReadEntry,
  path: string,
): Html {
  const { say } = visit;
  const { shown, versions: all } = read.content;
  const number = version.version;
  const approval = approvals.find((each) => each.version === version.version);
  const { activity, recorded, author_type, author_name, acting_as_name, written_by, source_system } = version;
  const writer = say(
    Object.entries(WRITERS).find(([name]) => name === written_by.kind)?.[1] ?? 'writer.service',
  );
  const facts: readonly (readonly [string, Html])[] = [
    [
      say('entry.author'),
      html`${authorText(say, author_type)}${author_name === null ? '' : ': '}<bdi>${author_name ?? ''}</bdi>${author_type === 'ai' ? html` <span class="badge ai">${say('ai.unverified')}</span>` : html``}`,
    ],
    ...(acting_as_name === null ? [] : [[say('entry.acting'), html`<bdi>${acting_as_name}</bdi>`] as const]),
    [
      say('entry.writer'),
      html`${writer}${written_by.name === null ? '' : ': '}<bdi>${written_by.name ?? ''}</bdi>`,
    ],
    ...(approval === undefined
      ? []
      : [
          [
            say('entry.approved'),
            html`${approval.name === null ? '' : html`<bdi>${approval.name}</bdi>, `}${say(approval.role === 'self' ? 'people.patient' : 'people.representative')}`,
          ] as const,
        ]),
    ...(source_system === null ? [] : [[say('entry.source'), html`<bdi>${source_system}</bdi>`] as const]),
  ];
  const see =
    number === shown.version
      ? html`<p class="quiet small">${say('entry.above')}</p>`
      : typeof all.get(number)?.size === 'number'
        ? html`<p class="small origin"><a href="${visit.to(path, { version: number })}">${say('entry.see')}<span class="visually-hidden">: ${say('entry.number', { version: number })}</span></a></p>`
        : html``;
  return html`<li class="card${author_type === 'ai' ? ' ai' : ''}"><h3>${say('entry.number', { version: number })}: ${say(ACTIVITIES[activity])}</h3>
<p class="quiet"><time datetime="${recorded}">${say.moment(Date.parse(recorded))}</time></p>
<dl class="facts">
${facts.map(
  ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>
`,
)}</dl>
${changesPart(say, read, number)}${see}</li>
`;
}
