/** One event: what it changed, who made the change, and the proof for it. */
import type { ComponentChildren } from 'preact';
import { useRoute } from 'preact-iso';
import { type Api, annal, withQuery } from '../../api.ts';
import { pathOf, useProject } from '../../here.ts';
import { indent } from '../../indent.ts';
import { justBefore } from '../../just-before.ts';
import { useLoaded } from '../../load.ts';
import { Badge, Button, Code, Head, Problem, Shown, Table } from '../../parts/parts.tsx';
import { language, say, sayMomentInZone } from '../../texts/texts.ts';
import { isNamedByClient, sayAuthor, sayCredential, sayType } from './events.tsx';
import { CheckpointFacts, type Exported, HowToCheck, headersFor, useExport, useSaved } from './parts.tsx';

type Whole = Api.WholeLogEvent;

/** Returns the screen. */
export function EventDetails() {
  const here = useProject();
  const id = useRoute().params.event ?? '';
  const event = useLoaded(
    (signal) =>
      annal.get(
        '/admin/projects/{project_id}/events/{event_id}',
        { project_id: here.project, event_id: id, language: language.value },
        { signal, headers: headersFor(here) },
      ),
    [here.project, here.environment, id, language.value],
  );
  return (
    <>
      <p>
        <a href={pathOf(here, '/audit')}>{say('audit.events')}</a>
      </p>
      <Head title={say('audit.event')} about={<code>{id}</code>} />
      <Shown of={event}>
        {(whole) => (
          <>
            <Facts event={whole} />
            <Changes event={whole} />
            <Proof event={whole} />
            <Content event={whole} />
          </>
        )}
      </Shown>
    </>
  );
}

function Facts({ event }: { readonly event: Whole }) {
  const here = useProject();
  const { patient, resource, version } = event;
  const record = patient === null ? undefined : pathOf(here, `/patients/${patient}`);
  const approved = event.approved_by;
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    [say('audit.what'), sayType(event.type)],
    [say('audit.about'), event.title],
    [
      say('audit.when'),
      <time
        key="when"
        dateTime={event.recorded_at}
      >{`${sayMomentInZone(event.recorded_at)} (${event.recorded_at})`}</time>,
    ],
    [
      say('audit.who'),
      <>
        {sayAuthor(event)}{' '}
        {isNamedByClient(event) ? <span class="quiet">({say('audit.author.named')})</span> : null}
      </>,
    ],
    [say('audit.behalf'), event.on_behalf_of?.display ?? event.on_behalf_of?.reference],
    [
      say('audit.approved'),
      approved === null
        ? null
        : say('audit.approved.by', { subject: approved.subject, proposal: approved.proposal }),
    ],
    [say('audit.credential'), sayCredential(event)],
    [say('audit.source'), event.source_system],
    [
      say('audit.resource'),
      resource === null ? null : (
        <>
          {record === undefined ? (
            <code>{resource}</code>
          ) : (
            <a href={withQuery(`${record}/entries/${resource}`, { version: version ?? undefined })}>
              <code>{resource}</code>
            </a>
          )}{' '}
          {version === null ? null : say('audit.version', { version })}{' '}
          <a href={withQuery(pathOf(here, '/audit'), { resource })}>{say('audit.resource.all')}</a>
        </>
      ),
    ],
    [
      say('audit.patient'),
      record === undefined ? null : (
        <>
          {event.patient_name}{' '}
          <a href={record}>
            <code>{patient}</code>
          </a>{' '}
          <a href={withQuery(record, { at: justBefore(event.recorded_at) })}>{say('audit.before.record')}</a>
        </>
      ),
    ],
    [
      say('requests.request'),
      <a key="request" href={pathOf(here, `/requests/${event.request_id}`)}>
        <code>{event.request_id}</code>
      </a>,
    ],
  ];
  return (
    <section class="panel">
      <dl>
        {facts.map(([name, value]) =>
          value === null || value === undefined ? null : (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ),
        )}
      </dl>
    </section>
  );
}

function Changes({ event }: { readonly event: Whole }) {
  const { changes, version, type } = event;
  if (changes.length === 0) return null;
  if (type === 'ResourceDeleted') return <LastSaid event={event} />;
  const isNew = version === 1 || version === null;
  return (
    <section class="stack">
      <h2>{say(isNew ? 'audit.elements' : 'audit.changes')}</h2>
      <Table
        label={say('audit.changes')}
        rows={changes}
        keyOf={({ path }) => path}
        columns={[
          { title: say('audit.element'), cell: ({ path }) => <code>{path}</code> },
          ...(isNew
            ? []
            : [
                { title: say('audit.before'), cell: ({ before }: Whole['changes'][number]) => before ?? '–' },
              ]),
          { title: say(isNew ? 'audit.value' : 'audit.after'), cell: ({ after }) => after ?? '–' },
        ]}
      />
    </section>
  );
}

/** The last content of a deleted resource, and the version that contained it. */
function LastSaid({ event: { changes, patient, resource, version } }: { readonly event: Whole }) {
  const here = useProject();
  const entry = `/patients/${patient}/entries/${resource}`;
  return (
    <section class="stack">
      <h2>{say('audit.lastSaid')}</h2>
      {patient === null || version === null ? null : (
        <p>
          <a href={withQuery(pathOf(here, entry), { version: version - 1 })}>{say('audit.lastVersion')}</a>
        </p>
      )}
      <Table
        label={say('audit.lastSaid')}
        rows={changes}
        keyOf={({ path }) => path}
        columns={[
          { title: say('audit.element'), cell: ({ path }) => <code>{path}</code> },
          { title: say('audit.value'), cell: ({ before }) => before ?? '–' },
        ]}
      />
    </section>
  );
}

function Proof({ event }: { readonly event: Whole }) {
  const { chain, stream, revision, position, patient, resource } = event;
  const { checkpoint } = chain;
  const exporting = useExport();
  const saved = useSaved(exporting);
  const files: readonly (readonly [string, Exported])[] = [
    ...(resource === null ? [] : [[say('audit.take.history'), { kind: 'history', resource }] as const]),
    ...(patient === null ? [] : [[say('audit.take.record'), { kind: 'record', patient }] as const]),
  ];
  return (
    <section class="panel">
      <h2>{say('audit.proof')}</h2>
      <p>
        {chain.holds ? (
          <Badge tone="good">{say('audit.holds')}</Badge>
        ) : (
          <Badge tone="bad">{say(revision === null ? 'audit.missing' : 'audit.altered')}</Badge>
        )}
      </p>
      <p class="quiet">{say(chain.holds ? 'audit.holds.says' : 'audit.altered.says')}</p>
      <dl>
        <dt>{say('audit.hash')}</dt>
        <dd>
          <code>{chain.hash ?? '–'}</code>
        </dd>
        <dt>{say('audit.previous')}</dt>
        <dd>
          <code>{chain.previous ?? '–'}</code>
        </dd>
        <dt>{say('audit.place')}</dt>
        <dd>
          <code>{stream}</code>,{' '}
          {say('audit.revision', { revision: revision === null ? '–' : String(revision) })},{' '}
          {say('audit.position')} <code>{position ?? '–'}</code>
        </dd>
        <dt>{say('audit.checkpoint')}</dt>
        <dd>
          {checkpoint === null ? (
            say('audit.checkpoint.none')
          ) : (
            <>
              {say('audit.checkpoint.covers', {
                moment: sayMomentInZone(checkpoint.time),
                revision: checkpoint.revision,
              })}
              <CheckpointFacts checkpoint={checkpoint} />
            </>
          )}
        </dd>
      </dl>
      {files.length === 0 ? null : (
        <div class="acts">
          {files.map(([name, asked]) => (
            <Button
              key={asked.kind}
              tone={asked.kind === 'history' ? 'primary' : 'plain'}
              busy={exporting.isRunning}
              onClick={() => void saved.run(asked)}
            >
              {name}
            </Button>
          ))}
        </div>
      )}
      <Problem failure={exporting.failure} />
      {saved.value === undefined ? null : <HowToCheck saved={saved.value} />}
    </section>
  );
}

function Content({ event: { data, metadata } }: { readonly event: Whole }) {
  if (data === null || metadata === null) return null;
  return (
    <details class="panel">
      <summary>{say('audit.content')}</summary>
      <h3>{say('audit.data')}</h3>
      <Code text={indent(data)} label={say('audit.data')} />
      <h3>{say('audit.metadata')}</h3>
      <Code text={indent(metadata)} label={say('audit.metadata')} />
    </details>
  );
}
