/** Who entered something, and when: the Provenance of one entry in plain words, version by version. */
import { z } from 'zod';
import { type Html, html } from '#src/shared/html.ts';
import { TIMELINE, TIMELINE_KINDS } from '#src/v1/timeline.ts';
import { listOf } from '../api/schemas.ts';
import type { TextKey } from '../pages/languages/language.ts';
import type { PatientPage } from './page.ts';
import type { OpenRecord } from './records.ts';
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
  const kind = TIMELINE_KINDS.find((each) => TIMELINE[each] === type);
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
  return {
    title: say('entry.title'),
    lead: html`${say('entry.lead', { things: kind === undefined ? kindsText(say, [type]) : kindText(say, kind) })}`,
    record,
    back: { path: `${record.path}/timeline`, text: say('nav.timeline') },
    body: html`<ul class="cards">
${data.map((version) => versionCard(say, version))}</ul>
<p class="quiet small">${say('list.utc')}</p>`,
  };
}

function versionCard(say: Visit['say'], version: Version): Html {
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
