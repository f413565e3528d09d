/** The search in a project's log: who changed what, and when. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { type AnswerOf, annal, filled } from '../../api.ts';
import { useCredentials } from '../../credentials.ts';
import { pathOf, useProject } from '../../here.ts';
import { useLoaded } from '../../load.ts';
import { Empty, Shown, Table } from '../../parts/parts.tsx';
import { language, say, sayMomentInZone } from '../../texts/texts.ts';
import { isKnownType, PROJECT_TYPES, RECORD_TYPES } from './event-types.ts';
import { AuditHead, Choice, Filter, Filters, FindPatient, headersFor, Pages } from './parts.tsx';

type Page = AnswerOf<'GET', '/admin/projects/{project_id}/events'>;
export type LogEvent = Page['data'][number];

const AUTHOR_TYPES = ['patient', 'practitioner', 'device', 'import', 'ai'] as const;

/** Returns the name of an event type. */
export function sayType(type: string): string {
  return isKnownType(type) ? say(`audit.type.${type}`) : type;
}

/** Returns the screen. */
export function Events() {
  const here = useProject();
  const { query } = useLocation();
  const { from, to, type, patient, resource, author, key, application, request_id } = query;
  const author_type = AUTHOR_TYPES.find((each) => each === query.author_type);
  const asked = {
    project_id: here.project,
    environment: here.environment,
    limit: 50,
    ...filled({ from, to, type, patient, resource, author, author_type, key, application, request_id }),
    ...(query.of === 'project' ? { of: 'project' as const } : {}),
    language: language.value,
  };
  const ask = (cursor?: string, signal?: AbortSignal) =>
    annal.get(
      '/admin/projects/{project_id}/events',
      { ...asked, ...(cursor === undefined ? {} : { cursor }) },
      { headers: headersFor(here), ...(signal === undefined ? {} : { signal }) },
    );
  const first = useLoaded((signal) => ask(undefined, signal), [JSON.stringify(asked)]);
  return (
    <>
      <AuditHead title="audit.events" about="audit.events.says" />
      <Filters screen="/audit">
        <Conditions />
      </Filters>
      <p class="quiet">
        {say('audit.events.named')} <FindPatient />
      </p>
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

/** The search fields, for records or for the project itself. */
function Conditions() {
  const { query } = useLocation();
  const [of, choose] = useState(query.of === 'project' ? 'project' : '');
  const { keys, applications } = useCredentials();
  const any = say('audit.any');
  const isOfRecords = of === '';
  return (
    <>
      <Choice
        name="of"
        label="audit.of"
        options={[
          ['', say('audit.of.records')],
          ['project', say('audit.of.project')],
        ]}
        onChoose={choose}
      />
      <Filter name="from" label="audit.fromDay" type="date" />
      <Filter name="to" label="audit.toDay" type="date" />
      <Choice
        key={of}
        name="type"
        label="audit.type"
        options={[
          ['', any],
          ...(isOfRecords ? RECORD_TYPES : PROJECT_TYPES).map((each) => [each, sayType(each)] as const),
        ]}
      />
      <Filter name="patient" label="audit.patient" placeholder="018f…" />
      {isOfRecords ? (
        <>
          <Filter name="resource" label="audit.resource" placeholder="Observation/018f…" />
          <Choice
            name="author_type"
            label="audit.authorType"
            options={[['', any], ...AUTHOR_TYPES.map((each) => [each, sayAuthorType(each)] as const)]}
          />
        </>
      ) : null}
      <Filter name="author" label="audit.author" placeholder={say('audit.author.hint')} />
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
                {event.title === null && event.resource === null
                  ? ''
                  : `: ${event.title ?? event.resource?.split('/')[0]}`}
              </a>
              <div class="quiet">
                {event.title === null || event.resource === null
                  ? null
                  : `${event.resource.split('/')[0]} · `}
                <time dateTime={event.recorded_at}>{sayMomentInZone(event.recorded_at)}</time>
                {event.version === null ? null : ` · ${say('audit.version', { version: event.version })}`}
              </div>
              <div class="narrow">
                <Who event={event} />
                <PatientOf event={event} />
                {event.source_system === null ? null : (
                  <div>{say('audit.from.source', { source: event.source_system })}</div>
                )}
              </div>
            </>
          ),
        },
        {
          title: say('audit.who'),
          isWide: true,
          cell: (event) => <Who event={event} />,
        },
        {
          title: say('audit.patient'),
          isWide: true,
          cell: (event) => (event.patient === null ? '–' : <PatientOf event={event} />),
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

function PatientOf({ event: { patient, patient_name } }: { readonly event: LogEvent }) {
  if (patient === null) return null;
  return (
    <>
      {patient_name === null ? null : <div>{patient_name}</div>}
      <div class="quiet">
        <code>{patient}</code>
      </div>
    </>
  );
}

function Who({ event }: { readonly event: LogEvent }) {
  return (
    <>
      <div>{sayAuthor(event)}</div>
      <div class="quiet">{sayCredential(event)}</div>
    </>
  );
}

/** Returns the author that an event names. */
export function sayAuthor({
  author,
  acting_as,
  credential: { kind, name: credential, subject },
}: Pick<LogEvent, 'author' | 'acting_as' | 'credential'>): string {
  const name =
    author?.display ?? author?.reference ?? (author?.type == null ? null : sayAuthorType(author.type));
  const entered = acting_as?.display ?? acting_as?.reference;
  if (name === null && entered == null) {
    if (kind === 'system') return say('audit.author.service');
    return (kind === 'id_token' ? (credential ?? subject) : null) ?? say('audit.author.none');
  }
  if (name === null) return entered ?? '';
  return entered === undefined || entered === null || entered === name
    ? name
    : say('audit.author.entered', { author: name, entered });
}

/** Returns true if the author is named only by a client; a person who was signed in is authenticated. */
export function isNamedByClient({ author, acting_as, credential: { kind } }: LogEvent): boolean {
  return (author !== null || acting_as !== null) && kind !== 'id_token' && kind !== 'system';
}

function sayAuthorType(type: string): string {
  const known = AUTHOR_TYPES.find((each) => each === type);
  return known === undefined ? type : say(`audit.author.${known}`);
}

/** Returns an event's credential in words: `API key server (…a1b2)`. */
export function sayCredential({ credential }: Pick<LogEvent, 'credential'>): string {
  const { kind, name, key, application, subject } = credential;
  const called = name ?? key ?? application ?? subject ?? '';
  return `${say(`audit.credential.${kind}`)} ${called}`.trim();
}
