/** Applications that people can allow to use their record: registered, with new secrets, and deleted. */
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { useProject } from '../here.ts';
import { useAct, useLoaded } from '../load.ts';
import { Badge, Button, Code, Confirm, Dialog, Empty, Field, Head, Problem, Shown } from '../parts/parts.tsx';
import { includesRole, listAll } from '../session.ts';
import { say } from '../texts/texts.ts';

/** An application. */
interface Application {
  readonly id: string;
  readonly client_id: string;
  readonly name: string;
  readonly environment: string;
  readonly kind: 'public' | 'confidential';
  readonly redirect_uris: readonly string[];
  readonly scopes: readonly string[];
  readonly grant_types: readonly string[];
  readonly jwks_uri: string | null;
  readonly trusted: boolean;
}

/** A secret that was just made: only now it can be read. */
interface Secret {
  readonly client_secret?: string;
}

type Asked =
  | { readonly kind: 'register' }
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'rotate' | 'delete'; readonly application: Application };

/** Returns the screen. */
export function Applications() {
  const here = useProject();
  const [asked, ask] = useState<Asked>();
  const mayChange = includesRole(here.role, 'admin');
  const applications = useLoaded(
    () => listAll<Application>(`/admin/projects/${here.project}/applications`),
    [here.project, here.environment],
  );
  const ending = useAct(
    async ({ kind, application }: { readonly kind: string; readonly application: Application }) => {
      const path = `/admin/applications/${application.id}`;
      if (kind === 'delete') await call(path, { method: 'DELETE' });
      const made =
        kind === 'rotate' ? await call<Secret>(`${path}/secrets`, { method: 'POST', body: {} }) : {};
      await applications.reload();
      return made;
    },
  );
  return (
    <>
      <Head title={say('applications.title')} about={say('applications.says')}>
        {mayChange ? (
          <Button tone="primary" onClick={() => ask({ kind: 'register' })}>
            {say('applications.register')}
          </Button>
        ) : null}
      </Head>
      {mayChange ? null : <p class="note">{say('applications.notYours')}</p>}
      <Shown of={applications}>
        {(all) => {
          const shown = all.filter(({ environment }) => environment === here.environment);
          return shown.length === 0 ? (
            <Empty>
              <p>{say('applications.none')}</p>
            </Empty>
          ) : (
            shown.map((application) => (
              <section key={application.id} class="panel">
                <header class="head">
                  <h2>
                    {application.name} <Badge>{say(`applications.${application.kind}`)}</Badge>{' '}
                    {application.trusted ? <Badge tone="good">{say('applications.trusted')}</Badge> : null}
                  </h2>
                  {mayChange ? (
                    <div class="acts">
                      {application.kind === 'confidential' && application.jwks_uri === null ? (
                        <Button onClick={() => ask({ kind: 'rotate', application })}>
                          {say('applications.rotate')}
                        </Button>
                      ) : null}
                      <Button tone="danger" onClick={() => ask({ kind: 'delete', application })}>
                        {say('applications.delete')}
                      </Button>
                    </div>
                  ) : null}
                </header>
                <dl>
                  <dt>client_id</dt>
                  <dd>
                    <code>{application.client_id}</code>
                  </dd>
                  <dt>{say('applications.redirects')}</dt>
                  <dd>
                    {application.redirect_uris.map((uri) => (
                      <div key={uri}>
                        <code>{uri}</code>
                      </div>
                    ))}
                  </dd>
                  <dt>{say('applications.scopes')}</dt>
                  <dd>
                    <code>{application.scopes.join(' ')}</code>
                  </dd>
                  <dt>{say('applications.grants')}</dt>
                  <dd>
                    <code>{application.grant_types.join(' ')}</code>
                  </dd>
                </dl>
              </section>
            ))
          );
        }}
      </Shown>
      {asked?.kind === 'register' ? (
        <Register
          onClose={() => ask(undefined)}
          onMade={({ client_secret: secret }) => {
            ask(secret === undefined ? undefined : { kind: 'secret', secret });
            void applications.reload();
          }}
        />
      ) : null}
      {asked?.kind === 'secret' ? (
        <Dialog title={say('applications.secret')} onClose={() => ask(undefined)}>
          <p>
            <strong>{say('applications.secret.once')}</strong>
          </p>
          <Code text={asked.secret} label={say('applications.secret')} />
          <footer>
            <Button tone="primary" onClick={() => ask(undefined)}>
              {say('keys.made.kept')}
            </Button>
          </footer>
        </Dialog>
      ) : null}
      {asked?.kind === 'rotate' || asked?.kind === 'delete' ? (
        <Confirm
          title={`${say(`applications.${asked.kind}`)}: ${asked.application.name}`}
          says={<p>{say(`applications.${asked.kind}.says`)}</p>}
          act={say(`applications.${asked.kind}`)}
          busy={ending.isRunning}
          failure={ending.failure}
          onClose={() => ask(undefined)}
          onConfirm={async () => {
            const made = await ending.run(asked);
            if (made === undefined) return;
            const { client_secret: secret } = made as Secret;
            ask(secret === undefined ? undefined : { kind: 'secret', secret });
          }}
        />
      ) : null}
    </>
  );
}

function Register({
  onClose,
  onMade,
}: {
  readonly onClose: () => void;
  readonly onMade: (made: Application & Secret) => void;
}) {
  const here = useProject();
  const registering = useAct((form: FormData) =>
    call<Application & Secret>(`/admin/projects/${here.project}/applications`, {
      method: 'POST',
      body: {
        name: String(form.get('name')),
        environment: here.environment,
        kind: String(form.get('kind')),
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

/** Returns the texts between blanks and line breaks. */
function words(text: FormDataEntryValue | null): readonly string[] {
  return String(text ?? '')
    .split(/\s+/)
    .filter((word) => word !== '');
}
