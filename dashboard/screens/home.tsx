/** The person's organizations and projects. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { annal } from '../api.ts';
import { pathOf } from '../here.ts';
import { useAct } from '../load.ts';
import { Button, Dialog, Empty, Field, Head, Problem } from '../parts/parts.tsx';
import { account, includesRole, loadAccount, type Organization } from '../session.ts';
import { say } from '../texts/texts.ts';
import { MyInvitations } from './invitations.tsx';

/** Returns the screen. On the first visit, a person who has only one project is taken straight to it. */
export function Home() {
  const { organizations = [], projects = [] } = account.value ?? {};
  const { route, query } = useLocation();
  const [asked, ask] = useState<'organization' | Organization>();
  const [isInvited, setInvited] = useState(false);
  const [only] = projects.length === 1 ? projects : [];
  useEffect(() => {
    // The link in the person's menu opens this screen without going on to the project.
    if (only !== undefined && query.first !== undefined)
      route(pathOf({ project: only.id, environment: 'sandbox' }), true);
  }, []);
  return (
    <>
      <Head title={say('home.title')} about={say('home.says')}>
        <Button onClick={() => ask('organization')}>{say('home.newOrganization')}</Button>
      </Head>
      <MyInvitations onLoaded={(count) => setInvited(count > 0)} />
      {organizations.length === 0 && !isInvited ? (
        <Empty>
          <p>{say('home.none')}</p>
          <Button tone="primary" onClick={() => ask('organization')}>
            {say('home.newOrganization')}
          </Button>
        </Empty>
      ) : null}
      {organizations.map((organization) => (
        <section key={organization.id} class="panel">
          <header class="head">
            <div>
              <h2>{organization.name}</h2>
              <p class="quiet">
                {say(`role.${organization.role}`)}
                {organization.confirmed_domain === null
                  ? ''
                  : ` · ${say('home.confirmed', { domain: organization.confirmed_domain })}`}
              </p>
            </div>
            {includesRole(organization.role, 'admin') ? (
              <Button onClick={() => ask(organization)}>{say('home.newProject')}</Button>
            ) : null}
          </header>
          <ul class="cards">
            {projects
              .filter(({ organization_id }) => organization_id === organization.id)
              .map((project) => (
                <li key={project.id}>
                  <a href={pathOf({ project: project.id, environment: 'sandbox' })}>
                    <strong>{project.name}</strong>
                    <code>{project.id}</code>
                  </a>
                </li>
              ))}
          </ul>
        </section>
      ))}
      {asked === undefined ? null : <Create what={asked} onClose={() => ask(undefined)} />}
    </>
  );
}

function Create({
  what,
  onClose,
}: {
  readonly what: 'organization' | Organization;
  readonly onClose: () => void;
}) {
  const { route } = useLocation();
  const isOrganization = what === 'organization';
  // If its project couldn't be created, the next attempt is for the same organization.
  const made = useRef<{ readonly id: string; readonly name: string }>(undefined);
  const creating = useAct(async (name: string) => {
    if (isOrganization && made.current?.name !== name)
      made.current = await annal.post('/admin/organizations', { body: { name } });
    const org_id = isOrganization ? (made.current?.id ?? '') : what.id;
    // A new organization without a project would be a dead end. If its project can't be created, the list shows it nevertheless.
    const project = await annal
      .post('/admin/organizations/{org_id}/projects', { org_id, body: { name } })
      .catch(async (error: unknown) => {
        await loadAccount().catch(() => undefined);
        throw error;
      });
    await loadAccount();
    return project;
  });
  return (
    <Dialog title={say(isOrganization ? 'home.newOrganization' : 'home.newProject')} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const project = await creating.run(String(new FormData(event.currentTarget).get('name')));
          if (project !== undefined) route(pathOf({ project: project.id, environment: 'sandbox' }));
        }}
      >
        <Field
          name="name"
          label={say('name')}
          hint={say(isOrganization ? 'home.newOrganization.hint' : 'home.newProject.hint')}
          failure={creating.failure}
        >
          {(attributes) => <input {...attributes} required maxLength={200} autocomplete="off" />}
        </Field>
        <Problem failure={creating.failure} />
        <footer>
          <Button onClick={onClose}>{say('cancel')}</Button>
          <Button type="submit" tone="primary" busy={creating.isRunning}>
            {say('create')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
