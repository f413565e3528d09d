/** An application: the URLs to which people return, what it may ask people for, how it authenticates, and how it looks. */
import { useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { annal } from '../../api.ts';
import { pathOf, useProject } from '../../here.ts';
import { NotFound, useAct, useLoaded } from '../../load.ts';
import { Ago, Badge, Button, Confirm, Copied, Head, Shown } from '../../parts/parts.tsx';
import { includesRole } from '../../session.ts';
import { say, sayCount } from '../../texts/texts.ts';
import { Authentication } from './authentication.tsx';
import { Branding } from './branding.tsx';
import { type Application as Found, Used } from './change.tsx';
import { Preview } from './preview.tsx';
import { Redirects } from './redirects.tsx';
import { Scopes } from './scopes.tsx';

/** Returns the screen. */
export function Application() {
  const here = useProject();
  const { params } = useRoute();
  const [isDeleting, askDelete] = useState(false);
  const mayChange = includesRole(here.role, 'admin');
  const application = useLoaded(async () => {
    const all = await annal
      .list('/admin/projects/{project_id}/applications', { project_id: here.project, limit: 100 })
      .all();
    const found = all.find(({ id, environment }) => id === params.id && environment === here.environment);
    if (found === undefined) throw new NotFound(say('notFound.says'));
    return found;
  }, [here.project, here.environment, params.id]);
  const found = application.value;
  const part = found && { of: found, mayChange, onChanged: application.reload };
  return (
    <>
      <p>
        <a href={pathOf(here, '/applications')}>{say('applications.title')}</a>
      </p>
      <Head title={found?.name ?? say('applications.one')}>
        {part !== undefined && mayChange ? (
          <Button tone="danger" onClick={() => askDelete(true)}>
            {say('applications.delete')}
          </Button>
        ) : null}
      </Head>
      {mayChange ? null : <p class="note">{say('applications.notYours')}</p>}
      <Shown of={application}>
        {(of) => (
          <section class="panel">
            <dl>
              <dt>{say('applications.id')}</dt>
              <dd>
                <code>{of.id}</code>
              </dd>
              <dt>client_id</dt>
              <dd>
                <code>{of.client_id}</code> <Copied text={of.client_id} label={say('applications.copyId')} />
              </dd>
              <dt>{say('applications.kind')}</dt>
              <dd>
                {say(`applications.${of.kind}`)}{' '}
                {of.trusted ? <Badge tone="good">{say('applications.trusted')}</Badge> : null}
              </dd>
              <dt>{say('applications.grants')}</dt>
              <dd>
                <code>{of.grant_types.join(' ')}</code>
              </dd>
              <dt>{say('created')}</dt>
              <dd>
                <Ago at={of.created_at} />
              </dd>
            </dl>
          </section>
        )}
      </Shown>
      {part === undefined ? null : (
        <>
          <Redirects {...part} />
          <Scopes {...part} />
          {part.of.grant_types.includes('authorization_code') ? <Preview of={part.of} /> : null}
          <Authentication {...part} />
          <Branding {...part} />
        </>
      )}
      {isDeleting && found !== undefined ? <Delete of={found} onClose={() => askDelete(false)} /> : null}
    </>
  );
}

function Delete({ of, onClose }: { readonly of: Found; readonly onClose: () => void }) {
  const here = useProject();
  const { route } = useLocation();
  const consents = useLoaded(
    (signal) =>
      annal.get(
        '/admin/projects/{project_id}/consents',
        { project_id: here.project, environment: here.environment, limit: 200 },
        { signal },
      ),
    [of.id],
  );
  const deleting = useAct(async () => {
    await annal.delete('/admin/applications/{application_id}', { application_id: of.id });
    return true;
  });
  const { data = [], next_cursor = null } = consents.value ?? {};
  const active = data.filter(({ status, application }) => status === 'active' && application.id === of.id);
  return (
    <Confirm
      title={`${say('applications.delete')}: ${of.name}`}
      says={
        <>
          <p>{say('applications.delete.says')}</p>
          {consents.value === undefined ? null : (
            <p>
              {next_cursor === null
                ? sayCount('applications.consents', active.length)
                : say('applications.consents.least', { count: active.length })}
            </p>
          )}
          <Used of={of} />
        </>
      }
      act={say('applications.delete')}
      busy={deleting.isRunning}
      failure={deleting.failure}
      onClose={onClose}
      onConfirm={async () => {
        if ((await deleting.run(undefined)) === true) route(pathOf(here, '/applications'));
      }}
    />
  );
}
