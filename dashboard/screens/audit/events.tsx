/** The search in the log of a project: who changed what, and when. */
import { useLocation } from 'preact-iso';
import { type AnswerOf, annal, filled } from '../../api.ts';
import { useCredentials } from '../../credentials.ts';
import { pathOf, useProject } from '../../here.ts';
import { useLoaded } from '../../load.ts';
import { Empty, Shown, Table } from '../../parts/parts.tsx';
import { say, sayMoment, type TextKey } from '../../texts/texts.ts';
import { AuditHead, Choice, Filter, Filters, headersFor, Pages } from './parts.tsx';

type Page = AnswerOf<'GET', '/admin/projects/{project_id}/events'>;
export type LogEvent = Page['data'][number];

/** Types of events that the form offers; others can be in the URL. */
const TYPES = [
  'ResourceCreated',
  'ResourceUpdated',
  'ResourceDeleted',
  'ConsentGranted',
  'ConsentRevoked',
  'RecordLinked',
  'SharedLinkCreated',
] as const;

/** Names of types that people read. */
const NAMES: Readonly<Record<string, TextKey>> = Object.fromEntries(
  TYPES.map((type) => [type, `audit.type.${type}` as TextKey]),
);

/** Returns the name of a type of event. */
export function sayType(type: string): string {
  const key = NAMES[type];
  return key === undefined ? type : say(key);
}

/** Returns the screen. */
export function Events() {
  const here = useProject();
  const { query } = useLocation();
  const { keys, applications } = useCredentials();
  const { from, to, type, patient, resource, author, key, application, request_id, of } = query;
  const asked = {
    project_id: here.project,
    environment: here.environment,
    limit: 50,
    ...filled({ from, to, type, patient, resource, author, key, application, request_id }),
    ...(of === 'project' ? { of: 'project' as const } : {}),
  };
  const ask = (cursor?: string, signal?: AbortSignal) =>
    annal.get(
      '/admin/projects/{project_id}/events',
      { ...asked, ...(cursor === undefined ? {} : { cursor }) },
      { headers: headersFor(here), ...(signal === undefined ? {} : { signal }) },
    );
  const first = useLoaded((signal) => ask(undefined, signal), [JSON.stringify(asked)]);
  const any = say('audit.any');
  return (
    <>
      <AuditHead title="audit.events" about="audit.events.says" />
      <Filters screen="/audit">
        <Filter name="from" label="audit.from" type="date" />
        <Filter name="to" label="audit.to" type="date" />
        <Choice
          name="type"
          label="audit.type"
          options={[['', any], ...TYPES.map((each) => [each, sayType(each)] as const)]}
        />
        <Filter name="patient" label="audit.patient" placeholder="018f…" />
        <Filter name="resource" label="audit.resource" placeholder="Observation/018f…" />
        <Filter name="author" label="audit.author" />
        <Choice
          name="key"
          label="audit.key"
          options={[['', any], ...keys.map(({ id, label }) => [id, label] as const)]}
        />
        <Choice
          name="application"
          label="audit.application"
          options={[['', any], ...applications.map(({ id, label }) => [id, label] as const)]}
        />
        <Choice
          name="of"
          label="audit.of"
          options={[
            ['', say('audit.of.records')],
            ['project', say('audit.of.project')],
          ]}
        />
      </Filters>
      <Shown of={first}>
        {(page) => (
          <Pages<LogEvent, Page> key={JSON.stringify(asked)} first={page} next={(cursor) => ask(cursor)}>
            {(rows) => (rows.length === 0 ? <None /> : <EventTable rows={rows} />)}
          </Pages>
        )}
      </Shown>
    </>
  );
}

function None() {
  return (
    <Empty>
      <p>{say('audit.events.none')}</p>
    </Empty>
  );
}

function EventTable({ rows }: { readonly rows: readonly LogEvent[] }) {
  const here = useProject();
  return (
    <Table
      label={say('audit.events')}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          title: say('audit.what'),
          cell: (event) => (
            <>
              <a href={pathOf(here, `/audit/events/${event.id}`)}>
                {sayType(event.type)}
                {event.resource === null ? '' : `: ${event.resource.split('/')[0]}`}
              </a>
              <div class="quiet">
                <time dateTime={event.recorded_at}>{sayMoment(event.recorded_at)}</time>
                {event.version === null ? null : ` · ${say('audit.version', { version: event.version })}`}
              </div>
            </>
          ),
        },
        {
          title: say('audit.who'),
          cell: (event) => (
            <>
              <div>{sayAuthor(event)}</div>
              <div class="quiet">{sayCredential(event)}</div>
            </>
          ),
        },
        {
          title: say('audit.patient'),
          isWide: true,
          cell: ({ patient }) => (patient === null ? '–' : <code>{patient}</code>),
        },
        {
          title: say('audit.source'),
          isWide: true,
          cell: ({ source_system }) => source_system ?? '–',
        },
      ]}
    />
  );
}

/** Returns whom an event names as the author. */
export function sayAuthor({ author, acting_as }: Pick<LogEvent, 'author' | 'acting_as'>): string {
  const name =
    author?.display ?? author?.reference ?? (author?.type == null ? null : sayAuthorType(author.type));
  const entered = acting_as?.display ?? acting_as?.reference;
  if (name === null) return entered ?? say('audit.author.none');
  return entered === undefined || entered === null || entered === name
    ? name
    : say('audit.author.entered', { author: name, entered });
}

function sayAuthorType(type: string): string {
  const known = ['patient', 'practitioner', 'device', 'import', 'ai'].find((each) => each === type);
  return known === undefined ? type : say(`audit.author.${known as 'import'}`);
}

/** Returns the credential of an event in words: `API key server (…a1b2)`. */
export function sayCredential({ credential }: Pick<LogEvent, 'credential'>): string {
  const { kind, name, key, application, subject } = credential;
  const called = name ?? key ?? application ?? subject ?? '';
  return `${say(`audit.credential.${kind}`)} ${called}`.trim();
}
