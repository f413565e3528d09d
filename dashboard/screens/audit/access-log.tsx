/** Shows who read the project's records and why, and the proof that nothing is missing. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { type AnswerOf, annal, filled } from '../../api.ts';
import { useCredentials } from '../../credentials.ts';
import { pathOf, useProject } from '../../here.ts';
import { useLoaded } from '../../load.ts';
import { Badge, Button, Empty, Shown, Table } from '../../parts/parts.tsx';
import { listActions, sayAction } from '../../parts/read-action.ts';
import { say, sayCount, sayMomentInZone, type TextKey } from '../../texts/texts.ts';
import {
  AuditHead,
  CheckpointFacts,
  Choice,
  Filter,
  Filters,
  FindPatient,
  headersFor,
  Pages,
} from './parts.tsx';

type Page = AnswerOf<'GET', '/admin/projects/{project_id}/access-log'>;
type Entry = Page['data'][number];

const TONES = { ok: 'good', denied: 'warn', not_found: 'plain', error: 'bad' } as const;
const CATEGORIES = [
  'results',
  'conditions',
  'medications',
  'allergies',
  'immunizations',
  'procedures',
  'encounters',
  'documents',
  'care',
  'devices',
  'contacts',
  'origins',
  'demographics',
] as const;

/** Returns the screen. */
export function AccessLog() {
  const here = useProject();
  const { query } = useLocation();
  const { keys, applications } = useCredentials();
  const { patient, application, key, person, action, from, to } = query;
  const [isNamed, name] = useState(false);
  const asked = {
    project_id: here.project,
    environment: here.environment,
    limit: 50,
    ...filled({ patient, application, key, person, action, from, to }),
    ...(isNamed ? { names: 'true' as const } : {}),
  };
  const ask = (cursor?: string, signal?: AbortSignal) =>
    annal.get(
      '/admin/projects/{project_id}/access-log',
      { ...asked, ...(cursor === undefined ? {} : { cursor }) },
      { headers: headersFor(here), ...(signal === undefined ? {} : { signal }) },
    );
  const first = useLoaded((signal) => ask(undefined, signal), [JSON.stringify(asked)]);
  const any = say('audit.any');
  return (
    <>
      <AuditHead title="audit.access" about="audit.access.says" />
      <Filters screen="/audit/access-log">
        <Filter name="patient" label="audit.patient" placeholder="018f…" />
        <Choice
          name="application"
          label="audit.application"
          options={[['', any], ...applications.map(({ id, label }) => [id, label] as const)]}
        />
        <Choice
          name="key"
          label="audit.key"
          options={[['', any], ...keys.map(({ id, label }) => [id, label] as const)]}
        />
        <Filter name="person" label="audit.person" placeholder={say('audit.person.hint')} />
        <Choice name="action" label="audit.action" options={[['', any], ...listActions()]} />
        <Filter name="from" label="audit.fromDay" type="date" />
        <Filter name="to" label="audit.toDay" type="date" />
      </Filters>
      <p class="quiet">
        <FindPatient />
      </p>
      {isNamed ? null : (
        <p>
          <Button onClick={() => name(true)}>{say('audit.names.show')}</Button>{' '}
          <span class="quiet">{say('audit.names.says')}</span>
        </p>
      )}
      <Shown of={first}>
        {(page) => (
          <>
            <p class={page.logs_key_reads ? 'quiet' : 'note'}>
              {say(page.logs_key_reads ? 'audit.access.keys' : 'audit.access.noKeys')}
            </p>
            <Proof proof={page.proof} />
            <Pages<Entry, Page> key={JSON.stringify(asked)} first={page} next={(cursor) => ask(cursor)}>
              {(rows) =>
                rows.length === 0 ? (
                  <Empty>
                    <p>
                      {say(
                        key !== undefined && !page.logs_key_reads
                          ? 'audit.access.none.keys'
                          : 'audit.access.none',
                      )}
                    </p>
                  </Empty>
                ) : (
                  <Entries rows={rows} />
                )
              }
            </Pages>
          </>
        )}
      </Shown>
    </>
  );
}

function Proof({ proof }: { readonly proof: Page['proof'] }) {
  if (proof === null) return <p class="quiet">{say('audit.access.proof.how')}</p>;
  const { entries, hash, checkpoint } = proof;
  return (
    <section class="panel">
      <h2>{say('audit.proof')}</h2>
      <p>
        {hash === null
          ? say('audit.access.proof.empty')
          : `${sayCount('audit.entries', entries)} ${say('audit.access.proof.says')}`}
      </p>
      <dl>
        {hash === null ? null : (
          <>
            <dt>{say('audit.access.last')}</dt>
            <dd>
              <code>{hash}</code>
            </dd>
          </>
        )}
        <dt>{say('audit.checkpoint')}</dt>
        <dd>
          {checkpoint === null ? (
            say('audit.checkpoint.none')
          ) : (
            <>
              {say('audit.access.covers', {
                moment: sayMomentInZone(checkpoint.time),
                entry: checkpoint.revision,
              })}
              <CheckpointFacts checkpoint={checkpoint} />
            </>
          )}
        </dd>
      </dl>
    </section>
  );
}

function Entries({ rows }: { readonly rows: readonly Entry[] }) {
  const here = useProject();
  return (
    <Table
      label={say('audit.access')}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          title: say('audit.who'),
          cell: ({ actor, actor_ref, organization, ts }) => (
            <>
              <div>{actor ?? sayReader(actor_ref)}</div>
              {organization === null ? null : <div class="quiet">{organization}</div>}
              <div class="quiet">
                <time dateTime={ts}>{sayMomentInZone(ts)}</time>
              </div>
            </>
          ),
        },
        {
          title: say('audit.read'),
          cell: ({
            action,
            resource_type,
            category,
            status,
            count,
            source_system: source,
            purpose,
            patient,
            patient_name,
            request_id,
          }) => (
            <>
              <div>
                {sayAction(action)}
                {resource_type === null ? '' : `: ${resource_type}`}{' '}
                {status === 'ok' ? null : <Badge tone={TONES[status]}>{say(`audit.status.${status}`)}</Badge>}
              </div>
              <div class="quiet">
                {[
                  sayCategory(category),
                  count === null ? undefined : sayCount('audit.shown', count),
                  source === null ? undefined : say('audit.from.source', { source }),
                ]
                  .filter((each) => each !== undefined)
                  .join(' · ')}
              </div>
              {purpose === null ? null : <div>{say('audit.why', { reason: purpose })}</div>}
              <div class="quiet narrow">
                <div>
                  {patient_name} <code>{patient}</code>
                </div>
                <a href={pathOf(here, `/requests/${request_id}`)}>{say('requests.request')}</a>
              </div>
            </>
          ),
        },
        {
          title: say('audit.patient'),
          isWide: true,
          cell: ({ patient, patient_name, entry, action, resource_type, resource_id }) => (
            <>
              {patient_name === null ? null : <div>{patient_name}</div>}
              <a href={`${pathOf(here, '/audit/access-log')}?patient=${patient}`}>
                <code>{patient}</code>
              </a>
              <div class="quiet">
                {say('audit.entry', { entry })} · <code>{action}</code>
              </div>
              {resource_id === null || resource_type === 'Patient' ? null : (
                <div class="quiet">
                  <code>
                    {resource_type}/{resource_id}
                  </code>
                </div>
              )}
            </>
          ),
        },
        {
          title: say('requests.request'),
          isWide: true,
          cell: ({ request_id, hash }) => (
            <>
              <a href={pathOf(here, `/requests/${request_id}`)}>
                <code>{request_id}</code>
              </a>
              <div class="quiet" title={hash}>
                {say('audit.hash')} <code>{hash.slice(0, 12)}…</code>
              </div>
            </>
          ),
        },
      ]}
    />
  );
}

/** Returns who read, in words, without naming the people of the record. */
function sayReader(reference: string): string {
  const key: Readonly<Record<string, TextKey>> = {
    'person/self': 'audit.reader.self',
    'person/representative': 'audit.reader.representative',
    'person/member': 'audit.reader.member',
  };
  const known = key[reference];
  return known === undefined ? reference : say(known);
}

function sayCategory(category: string | null): string | undefined {
  const known = CATEGORIES.find((each) => each === category);
  return known === undefined ? undefined : say(`audit.category.${known}`);
}
