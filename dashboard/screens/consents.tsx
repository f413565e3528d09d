/** People's consents to the project's applications, and when and why each consent ended or will end. */
import { useState } from 'preact/hooks';
import { type AnswerOf, annal } from '../api.ts';
import { useCredentials } from '../credentials.ts';
import { pathOf, useProject } from '../here.ts';
import { useAct, useLoaded } from '../load.ts';
import { Ago, Badge, Button, Empty, Head, Problem, Shown, Table } from '../parts/parts.tsx';
import { say, sayCount, sayDay } from '../texts/texts.ts';

type Listed = AnswerOf<'GET', '/admin/projects/{project_id}/consents'>;
type Consent = Listed['data'][number];

const TONES = { active: 'good', revoked: 'warn', expired: 'plain' } as const;

/** Returns the screen. */
export function Consents() {
  const here = useProject();
  return (
    <>
      <Head title={say('consents.title')} about={say('consents.says')} />
      {here.mayRead ? (
        <List key={`${here.project} ${here.environment}`} />
      ) : (
        <p class="note">{say('consents.notYours')}</p>
      )}
    </>
  );
}

/** The consents in the project's environment, newest first. */
function List() {
  const { project, environment } = useProject();
  const [more, setMore] = useState<readonly Consent[]>([]);
  const [cursor, setCursor] = useState<string | null>();
  const asked = { project_id: project, environment, limit: 50 };
  const first = useLoaded(
    (signal) => annal.get('/admin/projects/{project_id}/consents', asked, { signal }),
    [project, environment],
  );
  const further = useAct((after: string) =>
    annal.get('/admin/projects/{project_id}/consents', { ...asked, cursor: after }),
  );
  return (
    <Shown of={first}>
      {({ data, total, next_cursor }) => {
        const after = cursor === undefined ? next_cursor : cursor;
        return total === 0 ? (
          <Empty>
            <p>{say('consents.none')}</p>
          </Empty>
        ) : (
          <>
            <p>{sayCount('consents.total', total)}</p>
            <ConsentTable consents={[...data, ...more]} />
            <Problem failure={further.failure} />
            {after === null ? null : (
              <Button
                busy={further.isRunning}
                onClick={async () => {
                  const next = await further.run(after);
                  if (next === undefined) return;
                  setMore([...more, ...next.data]);
                  setCursor(next.next_cursor);
                }}
              >
                {say('more')}
              </Button>
            )}
          </>
        );
      }}
    </Shown>
  );
}

function ConsentTable({ consents }: { readonly consents: readonly Consent[] }) {
  const here = useProject();
  const { applications } = useCredentials();
  return (
    <Table
      label={say('consents.title')}
      rows={consents}
      keyOf={({ id }) => id}
      columns={[
        {
          title: say('consents.state'),
          cell: (consent) => (
            <>
              <Badge tone={TONES[consent.status]}>{say(`consents.${consent.status}`)}</Badge>
              <div>{sayEnd(consent)}</div>
            </>
          ),
        },
        {
          title: say('requests.application'),
          cell: ({ application: { id, name }, end_reason }) =>
            applications.some((each) => each.id === id) ? (
              <a href={pathOf(here, `/applications/${id}`)}>{name}</a>
            ) : (
              <>
                {name === '' ? <code>{id}</code> : name}
                {end_reason === 'application_deleted' ? (
                  <div class="quiet">{say('consents.application.gone')}</div>
                ) : null}
              </>
            ),
        },
        {
          title: say('consents.may'),
          cell: ({ scopes, scopes_text, purpose }) => (
            <>
              {scopes_text.length === 0 ? (
                <code>{scopes.join(' ')}</code>
              ) : (
                <ul class="bullets" title={scopes.join(' ')}>
                  {scopes_text.map((sentence) => (
                    <li key={sentence}>{sentence}</li>
                  ))}
                </ul>
              )}
              {purpose === null ? null : <div class="quiet">{purpose}</div>}
            </>
          ),
        },
        {
          title: say('consents.given'),
          isWide: true,
          cell: ({ granted_at, granted_by }) => (
            <>
              <Ago at={granted_at} />
              <div class="quiet">{say(`consents.by.${granted_by}`)}</div>
            </>
          ),
        },
        {
          title: say('consents.patient'),
          isWide: true,
          cell: ({ patient }) => <code>{patient}</code>,
        },
      ]}
    />
  );
}

/** Returns when and why a consent ended, or when it will end. */
function sayEnd({ revoked_at, expires_at, end_reason }: Consent): string {
  return say(`consents.end.${end_reason ?? 'active'}`, { day: sayDay(revoked_at ?? expires_at) });
}
