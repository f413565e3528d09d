/** Who entered something, and when: the Provenance of one entry in plain words, version by version. */
import { z } from 'zod';
import type { Approval, EntryOrigin } from '#queries/rest/entry-origin.ts';
import { nameConcept } from '#src/clinical/reading/name.ts';
import { type Html, html } from '#src/shared/html.ts';
import { kindOf } from '#src/v1/timeline.ts';
import { listOf } from '../api/schemas.ts';
import type { TextKey } from '../pages/languages/language.ts';
import type { PatientPage } from './page.ts';
import type { OpenRecord } from './records.ts';
import { resultName } from './result-names.ts';
import { kindText } from './timeline.ts';
import type { Visit } from './visit.ts';
import { kindsText } from './words.ts';

const versions = listOf(
  z.object({
    version: z.number(),
    activity: z.enum(['CREATE', 'UPDATE', 'DELETE']),
    recorded: z.string(),
    author_type: z.string(),
    author_name: z.string().nullable(),
    acting_as_name: z.string().nullable(),
    written_by: z.object({ kind: z.string(), name: z.string().nullable() }),
    source_system: z.string().nullable(),
  }),
);

type Version = z.output<typeof versions>['data'][number];

const ACTIVITIES = { CREATE: 'entry.create', UPDATE: 'entry.update', DELETE: 'entry.delete' } as const;

const AUTHORS = {
  patient: 'author.patient',
  practitioner: 'author.practitioner',
  device: 'author.device',
  import: 'author.import',
  ai: 'author.ai',
} as const satisfies Readonly<Record<string, TextKey>>;

const WRITERS = {
  api_key: 'writer.key',
  application: 'writer.application',
  member: 'writer.member',
  organization: 'writer.organization',
  service: 'writer.service',
} as const satisfies Readonly<Record<string, TextKey>>;

/** Returns what an author type is called. */
export function authorText(say: Visit['say'], type: string): string {
  return say(Object.entries(AUTHORS).find(([name]) => name === type)?.[1] ?? 'author.import');
}

/** Returns the page. @throws Refusal not_found (404) for an entry of another record */
export async function entryPage(
  visit: Visit,
  record: OpenRecord,
  type: string,
  id: string,
): Promise<PatientPage> {
  const { say } = visit;
  const { data } = await visit.api.read(
    record,
    { action: 'history-instance', resourceType: 'Provenance' },
    'listProvenance',
    {
      params: { patient_id: record.record, resource_type: type, resource_id: id },
      query: { limit: 200, cursor: visit.asked('cursor') },
    },
    versions,
  );
  const { approvals, ...named } = await visit.deps.pages.entryOrigin(record.record, id);
  const name = await titleText(visit, named);
  return {
    title: name === undefined ? say('entry.title') : `${say('entry.title')}: ${name}`,
    heading: html`${say('entry.title')}`,
    lead: html`${name === undefined ? '' : html`<strong><bdi>${name}</bdi></strong> · `}${say('entry.lead', { things: typeText(say, type) })}`,
    record,
    back: { path: `${record.path}/timeline`, text: say('nav.timeline') },
    body: html`<ul class="cards">
${data.map((version) => versionCard(say, version, approvals))}</ul>
<p class="quiet small">${say('list.utc')}</p>`,
  };
}

/** Returns what a resource of a type is called: a health problem, a medicine. */
export function typeText(say: Visit['say'], type: string): string {
  const kind = kindOf(type);
  return kind === undefined ? kindsText(say, [type]) : kindText(say, kind);
}

async function titleText(
  { say, deps }: Visit,
  { title, titleSystem: system }: Pick<EntryOrigin, 'title' | 'titleSystem'>,
): Promise<string | undefined> {
  if (title === null || system === null) return title ?? undefined;
  const names = await deps.services.displays([{ system, code: title }]);
  const display = nameConcept({ coding: [{ system, code: title }] }, names) ?? title;
  return resultName(say, { system, code: title, display });
}

function versionCard(say: Visit['say'], version: Version, approvals: readonly Approval[]): Html {
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
  return html`<li class="card"><h2>${say(ACTIVITIES[activity])}</h2>
<p class="quiet"><time datetime="${recorded}">${say.moment(Date.parse(recorded))}</time></p>
<dl class="facts">
${facts.map(
  ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>
`,
)}</dl></li>
`;
}
