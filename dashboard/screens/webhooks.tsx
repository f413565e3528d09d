/** The webhook endpoints in the project's environment. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { type AnswerOf, annal, type Of, openRecords } from '../api.ts';
import { pathOf, useProject } from '../here.ts';
import { useAct, useLoaded } from '../load.ts';
import {
  Ago,
  Badge,
  Button,
  Dialog,
  Empty,
  Field,
  Head,
  Problem,
  Shown,
  ShownOnce,
  Table,
} from '../parts/parts.tsx';
import { say, sayCount } from '../texts/texts.ts';

/** An endpoint, without its secret. */
export type Endpoint = AnswerOf<'GET', '/admin/projects/{project_id}/webhooks'>['data'][number];

/** A newly created endpoint, or one with a new secret; the secret can be read only this once. */
export type IssuedEndpoint = AnswerOf<'POST', '/admin/webhooks/{endpoint_id}/rotate'>;

/** Returns the endpoints in a project's environment. */
export function listEndpoints({ project, environment }: Of, signal: AbortSignal): Promise<Endpoint[]> {
  const asked = { project_id: project, environment, limit: 100 };
  return annal.list('/admin/projects/{project_id}/webhooks', asked, { signal }).all();
}

/** Returns the screen. */
export function Webhooks() {
  const here = useProject();
  const [isAsked, ask] = useState(false);
  const [made, setMade] = useState<IssuedEndpoint>();
  const endpoints = useLoaded(
    (signal) => listEndpoints(here, signal),
    [here.project, here.environment],
    10_000,
  );
  return (
    <>
      <Head title={say('webhooks.title')} about={say('webhooks.says')}>
        {here.mayUse ? (
          <Button tone="primary" onClick={() => ask(true)}>
            {say('webhooks.create')}
          </Button>
        ) : null}
      </Head>
      <Shown of={endpoints}>
        {(data) =>
          data.length === 0 ? (
            <Empty>
              <p>{say('webhooks.none')}</p>
            </Empty>
          ) : (
            <Table
              label={say('webhooks.title')}
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: say('webhooks.url'),
                  cell: ({ id, url, description }) => (
                    <>
                      <a href={pathOf(here, `/webhooks/${id}`)}>{url}</a>
                      {description === null ? null : <div class="quiet">{description}</div>}
                    </>
                  ),
                },
                { title: say('webhooks.state'), cell: (endpoint) => <State of={endpoint} /> },
                { title: say('webhooks.events'), isWide: true, cell: ({ events }) => sayEvents(events) },
                {
                  title: say('webhooks.lastSuccess'),
                  isWide: true,
                  cell: ({ last_success_at }) => <Ago at={last_success_at} />,
                },
              ]}
            />
          )
        }
      </Shown>
      {isAsked ? (
        <Create
          onClose={() => ask(false)}
          onMade={(endpoint) => {
            ask(false);
            setMade(endpoint);
            void endpoints.reload();
          }}
        />
      ) : null}
      {made === undefined ? null : <Secret of={made} onClose={() => setMade(undefined)} />}
    </>
  );
}

/** Returns the event types that an endpoint receives, in words. */
export function sayEvents(events: readonly string[]): string {
  return events.includes('*') ? say('webhooks.all') : events.join(', ');
}

/** Shows whether an endpoint is receiving its events. */
export function State({ of }: { readonly of: Endpoint }) {
  if (!of.active) return <Badge>{say('webhooks.paused')}</Badge>;
  if (of.failure_streak > 0)
    return <Badge tone="bad">{sayCount('webhooks.failing', of.failure_streak)}</Badge>;
  if (of.last_success_at === null) return <Badge>{say('webhooks.unused')}</Badge>;
  return <Badge tone="good">{say('webhooks.works')}</Badge>;
}

/** Shows a new secret. */
export function Secret({ of, onClose }: { readonly of: IssuedEndpoint; readonly onClose: () => void }) {
  return (
    <ShownOnce
      title={say('webhooks.secret')}
      says={say('webhooks.secret.once')}
      text={of.secret}
      onClose={onClose}
    />
  );
}

function Create({
  onClose,
  onMade,
}: {
  readonly onClose: () => void;
  readonly onMade: (made: IssuedEndpoint) => void;
}) {
  const here = useProject();
  const { path } = useLocation();
  const types = useLoaded(
    (signal) => openRecords(here).get('/v1/webhooks/event-types', {}, { signal }),
    [path],
  );
  const [isAll, setAll] = useState(true);
  const creating = useAct((form: FormData) =>
    annal.post('/admin/projects/{project_id}/webhooks', {
      project_id: here.project,
      body: {
        url: String(form.get('url')),
        events: isAll
          ? ['*']
          : (types.value?.data ?? []).filter((type) => form.getAll('events').includes(type)),
        environment: here.environment,
        ...(form.get('description') === '' ? {} : { description: String(form.get('description')) }),
      },
    }),
  );
  return (
    <Dialog title={say('webhooks.create')} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const made = await creating.run(new FormData(event.currentTarget));
          if (made !== undefined) onMade(made);
        }}
      >
        <Field
          name="url"
          label={say('webhooks.url')}
          hint={say(here.environment === 'sandbox' ? 'webhooks.url.sandbox' : 'webhooks.url.production')}
          failure={creating.failure}
        >
          {(attributes) => (
            <input {...attributes} type="url" required placeholder="https://" autocomplete="off" />
          )}
        </Field>
        <Field name="description" label={say('webhooks.description')} failure={creating.failure}>
          {(attributes) => <input {...attributes} maxLength={500} autocomplete="off" />}
        </Field>
        <fieldset>
          <legend>{say('webhooks.events')}</legend>
          <label class="tick">
            <input
              type="checkbox"
              checked={isAll}
              onChange={({ currentTarget }) => setAll(currentTarget.checked)}
            />
            <span>{say('webhooks.all')}</span>
          </label>
          {isAll
            ? null
            : (types.value?.data ?? []).map((type) => (
                <label key={type} class="tick">
                  <input type="checkbox" name="events" value={type} />
                  <code>{type}</code>
                </label>
              ))}
        </fieldset>
        <Problem failure={creating.failure} />
        <footer>
          <Button onClick={onClose}>{say('cancel')}</Button>
          <Button type="submit" tone="primary" busy={creating.isRunning}>
            {say('webhooks.create')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
