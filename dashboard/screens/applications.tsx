/** Applications that people can allow to use their records: a list, and a form to register an application. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { type AnswerOf, annal } from '../api.ts';
import { pathOf, useProject } from '../here.ts';
import { useAct, useLoaded } from '../load.ts';
import { NotAllowed, useMayIssue } from '../parts/not-allowed.tsx';
import { Badge, Button, Dialog, Empty, Field, Head, Problem, Shown, Table } from '../parts/parts.tsx';
import { Lines, words } from '../parts/saving.tsx';
import { includesRole } from '../session.ts';
import { say } from '../texts/texts.ts';
import { Secret } from './application/secret.tsx';

/** A newly registered application, whose secret can be read only this once. */
type NewApplication = AnswerOf<'POST', '/admin/projects/{project_id}/applications'>;

/** Returns the screen. */
export function Applications() {
  const here = useProject();
  const { route } = useLocation();
  const [asked, ask] = useState<'register' | NewApplication>();
  const mayChange = includesRole(here.role, 'admin');
  const mayIssue = useMayIssue();
  const applications = useLoaded(
    () =>
      annal.list('/admin/projects/{project_id}/applications', { project_id: here.project, limit: 100 }).all(),
    [here.project, here.environment],
  );
  const open = ({ id }: NewApplication): void => route(pathOf(here, `/applications/${id}`));
  return (
    <>
      <Head title={say('applications.title')} about={say('applications.says')}>
        {mayChange && mayIssue === true ? (
          <Button tone="primary" onClick={() => ask('register')}>
            {say('applications.register')}
          </Button>
        ) : null}
      </Head>
      {mayChange ? null : <p class="note">{say('applications.notYours')}</p>}
      {mayChange && mayIssue === false ? <NotAllowed /> : null}
      <Shown of={applications}>
        {(all) => {
          const shown = all.filter(({ environment }) => environment === here.environment);
          return shown.length === 0 ? (
            <Empty>
              <p>{say('applications.none')}</p>
            </Empty>
          ) : (
            <Table
              label={say('applications.title')}
              rows={shown}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: say('name'),
                  cell: ({ id, name, trusted }) => (
                    <>
                      <a href={pathOf(here, `/applications/${id}`)}>{name}</a>{' '}
                      {trusted ? <Badge tone="good">{say('applications.trusted')}</Badge> : null}
                    </>
                  ),
                },
                { title: say('applications.kind'), cell: ({ kind }) => say(`applications.${kind}`) },
                {
                  title: say('applications.redirects'),
                  isWide: true,
                  cell: ({ redirect_uris }) => <Lines of={redirect_uris} />,
                },
              ]}
            />
          );
        }}
      </Shown>
      {asked === 'register' ? (
        <Register
          onClose={() => ask(undefined)}
          onMade={(made) => (made.client_secret === undefined ? open(made) : ask(made))}
        />
      ) : null}
      {typeof asked === 'object' ? (
        <Secret secret={asked.client_secret ?? ''} onClose={() => open(asked)} />
      ) : null}
    </>
  );
}

function Register({
  onClose,
  onMade,
}: {
  readonly onClose: () => void;
  readonly onMade: (made: NewApplication) => void;
}) {
  const here = useProject();
  const registering = useAct((form: FormData) =>
    annal.post('/admin/projects/{project_id}/applications', {
      project_id: here.project,
      body: {
        name: String(form.get('name')),
        environment: here.environment,
        kind: form.get('kind') === 'confidential' ? 'confidential' : 'public',
        redirect_uris: words(form.get('redirect_uris')),
        scopes: words(form.get('scopes')),
      },
    }),
  );
  return (
    <Dialog title={say('applications.register')} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const made = await registering.run(new FormData(event.currentTarget));
          if (made !== undefined) onMade(made);
        }}
      >
        <Field
          name="name"
          label={say('name')}
          hint={say('applications.name.hint')}
          failure={registering.failure}
        >
          {(attributes) => <input {...attributes} required maxLength={200} autocomplete="off" />}
        </Field>
        <fieldset>
          <legend>{say('applications.kind')}</legend>
          {(['public', 'confidential'] as const).map((kind) => (
            <label key={kind} class="tick">
              <input type="radio" name="kind" value={kind} defaultChecked={kind === 'public'} />
              <span>
                <strong>{say(`applications.${kind}`)}</strong>
                <span class="quiet">{say(`applications.${kind}.says`)}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <Field
          name="redirect_uris"
          label={say('applications.redirects')}
          hint={say('applications.redirects.hint')}
          failure={registering.failure}
        >
          {(attributes) => (
            <textarea {...attributes} required rows={2} placeholder="http://localhost:5173/callback" />
          )}
        </Field>
        <Field
          name="scopes"
          label={say('applications.scopes')}
          hint={say('applications.scopes.hint')}
          failure={registering.failure}
        >
          {(attributes) => (
            <textarea
              {...attributes}
              required
              rows={2}
              defaultValue="openid fhirUser launch/patient patient/*.rs"
            />
          )}
        </Field>
        <Problem failure={registering.failure} />
        <footer>
          <Button onClick={onClose}>{say('cancel')}</Button>
          <Button type="submit" tone="primary" busy={registering.isRunning}>
            {say('applications.register')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
