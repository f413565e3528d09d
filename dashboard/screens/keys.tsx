/** API keys: creating, rotating and revoking them. A key is shown only once. */
import { useState } from 'preact/hooks';
import { type Api, annal, withQuery } from '../api.ts';
import { pathOf, useProject } from '../here.ts';
import { useAct, useLoaded } from '../load.ts';
import { NotAllowed, useMayIssue } from '../parts/not-allowed.tsx';
import {
  Ago,
  Badge,
  Button,
  Confirm,
  Dialog,
  Empty,
  Field,
  Head,
  Problem,
  Shown,
  ShownOnce,
  Table,
} from '../parts/parts.tsx';
import { say, sayCount, sayDay } from '../texts/texts.ts';
import { mayAudit } from './audit/parts.tsx';

type Key = Api.Key;
type NewKey = Api.NewKey;

const SCOPES = ['read', 'write'] as const;

/** The action that the person is about to take. */
type Asked =
  | { readonly kind: 'create' }
  | { readonly kind: 'rotate'; readonly key: Key }
  | { readonly kind: 'revoke'; readonly key: Key }
  | { readonly kind: 'made'; readonly made: NewKey; readonly replaces?: Key };

/** Returns the screen. */
export function Keys() {
  const here = useProject();
  const [asked, ask] = useState<Asked>();
  const [withRevoked, showRevoked] = useState(false);
  const keys = useLoaded(
    () => annal.list('/admin/projects/{project_id}/keys', { project_id: here.project, limit: 100 }).all(),
    [here.project, here.environment],
  );
  const isBlocked = !here.mayUse;
  const mayIssue = useMayIssue();
  return (
    <>
      <Head title={say('keys.title')} about={say('keys.says')}>
        {isBlocked || mayIssue !== true ? null : (
          <Button tone="primary" onClick={() => ask({ kind: 'create' })}>
            {say('keys.create')}
          </Button>
        )}
      </Head>
      {isBlocked ? <p class="note">{say('keys.notYours')}</p> : null}
      {!isBlocked && mayIssue === false ? <NotAllowed /> : null}
      <Shown of={keys}>
        {(all) => {
          const here_ = all.filter(({ environment }) => environment === here.environment);
          const live = here_.filter((key) => key.revoked_at === null && !hasEnded(key));
          const revoked = here_.length - live.length;
          return (
            <>
              {live.length === 0 ? (
                <Empty>
                  <p>{say('keys.none')}</p>
                </Empty>
              ) : null}
              {live.length === 0 && !withRevoked ? null : (
                <Table
                  isStacked
                  label={say('keys.title')}
                  rows={withRevoked ? here_ : live}
                  keyOf={({ id }) => id}
                  columns={[
                    {
                      title: say('name'),
                      cell: (key) => (
                        <>
                          <strong>{key.name}</strong> <code>…{key.last4}</code>
                          <div class="quiet">
                            <code>{key.id}</code>{' '}
                            {mayAudit(here) ? (
                              <a
                                href={withQuery(pathOf(here, '/audit'), {
                                  of: 'project',
                                  type: 'ApiKeyCreated',
                                  key: key.id,
                                })}
                              >
                                {say('audit.key.maker')}
                              </a>
                            ) : null}
                          </div>
                        </>
                      ),
                    },
                    {
                      title: say('keys.scopes'),
                      cell: ({ scopes }) => scopes.map((scope) => say(`scope.${scope}`)).join(', '),
                    },
                    {
                      title: say('created'),
                      isWide: true,
                      cell: ({ created_at }) => <Ago at={created_at} />,
                    },
                    { title: say('keys.lastUsed'), cell: ({ last_used_at }) => <Ago at={last_used_at} /> },
                    { title: say('keys.ends'), cell: (key) => <End of={key} /> },
                    {
                      title: say('actions'),
                      cell: (key) =>
                        key.revoked_at !== null ? (
                          <Badge tone="bad">{say('keys.revoked')}</Badge>
                        ) : hasEnded(key) ? (
                          <Badge tone="bad">{say('keys.ended')}</Badge>
                        ) : isBlocked ? null : (
                          <div class="acts">
                            <Button
                              aria-label={say('keys.rotate.of', { name: key.name })}
                              onClick={() => ask({ kind: 'rotate', key })}
                            >
                              {say('keys.rotate')}
                            </Button>
                            <Button
                              tone="danger"
                              aria-label={say('keys.revoke.of', { name: key.name })}
                              onClick={() => ask({ kind: 'revoke', key })}
                            >
                              {say('keys.revoke')}
                            </Button>
                          </div>
                        ),
                    },
                  ]}
                />
              )}
              {revoked === 0 ? null : (
                <Button tone="link" onClick={() => showRevoked(!withRevoked)}>
                  {withRevoked ? say('keys.hideRevoked') : sayCount('keys.showRevoked', revoked)}
                </Button>
              )}
            </>
          );
        }}
      </Shown>
      {asked?.kind === 'create' || asked?.kind === 'rotate' ? (
        <Create
          {...(asked.kind === 'rotate' ? { replaces: asked.key } : {})}
          onClose={() => ask(undefined)}
          onMade={(made) => {
            ask({ kind: 'made', made, ...(asked.kind === 'rotate' ? { replaces: asked.key } : {}) });
            void keys.reload();
          }}
        />
      ) : null}
      {asked?.kind === 'made' ? <Made {...asked} onClose={() => ask(undefined)} /> : null}
      {asked?.kind === 'revoke' ? (
        <Revoke
          of={asked.key}
          onClose={() => ask(undefined)}
          onDone={() => {
            ask(undefined);
            void keys.reload();
          }}
        />
      ) : null}
    </>
  );
}

/** The choices for how long a key works, in days; empty means until it is revoked. */
const LIVES = ['', '30', '90', '365'] as const;

const DAY_MS = 86_400_000;
/** An expiry in less than this many days is highlighted. */
const SOON = 14;

/** Returns how long a replacement key should work: as long as the key that it replaces, or the next longer choice. */
function findLife(replaced: Key | undefined): (typeof LIVES)[number] {
  if (replaced === undefined || replaced.expires_at === null) return '';
  const days = Math.round((Date.parse(replaced.expires_at) - Date.parse(replaced.created_at)) / DAY_MS);
  return LIVES.find((each) => each !== '' && Number(each) >= days) ?? '365';
}

const hasEnded = ({ expires_at }: Key): boolean =>
  expires_at !== null && Date.parse(expires_at) <= Date.now();

/** Shows when a key expires, and highlights an expiry that is near. */
function End({ of: key }: { readonly of: Key }) {
  if (key.expires_at === null) return <span class="quiet">{say('keys.ends.never')}</span>;
  const day = sayDay(key.expires_at);
  const isNear = !hasEnded(key) && Date.parse(key.expires_at) - Date.now() < SOON * DAY_MS;
  return isNear ? <Badge tone="warn">{day}</Badge> : <span>{day}</span>;
}

/**
 * Creates a key.
 * @param replaces the key whose name and scopes are suggested
 */
function Create({
  replaces,
  onClose,
  onMade,
}: {
  readonly replaces?: Key;
  readonly onClose: () => void;
  readonly onMade: (made: NewKey) => void;
}) {
  const here = useProject();
  const creating = useAct((form: FormData) => {
    const days = Number(form.get('days'));
    const expires_at = days === 0 ? null : new Date(Date.now() + days * DAY_MS).toISOString();
    return annal.post('/admin/projects/{project_id}/keys', {
      project_id: here.project,
      body: {
        name: String(form.get('name')),
        environment: here.environment,
        scopes: SCOPES.filter((scope) => form.getAll('scopes').includes(scope)),
        expires_at,
      },
    });
  });
  const title = replaces === undefined ? say('keys.create') : say('keys.rotate.of', { name: replaces.name });
  return (
    <Dialog title={title} onClose={onClose}>
      {replaces === undefined ? null : (
        <p>{say('keys.rotate.says', { name: replaces.name, last4: replaces.last4 })}</p>
      )}
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const made = await creating.run(new FormData(event.currentTarget));
          if (made !== undefined) onMade(made);
        }}
      >
        <Field name="name" label={say('name')} hint={say('keys.name.hint')} failure={creating.failure}>
          {(attributes) => (
            <input
              {...attributes}
              required
              maxLength={200}
              autocomplete="off"
              defaultValue={replaces?.name}
            />
          )}
        </Field>
        <fieldset>
          <legend>{say('keys.scopes')}</legend>
          {SCOPES.map((scope) => (
            <label key={scope} class="tick">
              <input
                type="checkbox"
                name="scopes"
                value={scope}
                defaultChecked={replaces?.scopes.includes(scope) ?? true}
              />
              <span>
                <strong>{say(`scope.${scope}`)}</strong>
                <span class="quiet">{say(`scope.${scope}.says`)}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <Field name="expires_at" label={say('keys.ends')} failure={creating.failure}>
          {(attributes) => (
            <select {...attributes} name="days">
              {LIVES.map((days) => (
                <option key={days} value={days} selected={days === findLife(replaces)}>
                  {days === '' ? say('keys.ends.never') : sayCount('keys.ends.days', Number(days))}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Problem failure={creating.failure} />
        <footer>
          <Button onClick={onClose}>{say('cancel')}</Button>
          <Button type="submit" tone="primary" busy={creating.isRunning}>
            {say('keys.create')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

function Made({
  made,
  replaces,
  onClose,
}: {
  readonly made: NewKey;
  readonly replaces?: Key;
  readonly onClose: () => void;
}) {
  return (
    <ShownOnce title={say('keys.made')} says={say('keys.made.once')} text={made.key} onClose={onClose}>
      {replaces === undefined ? null : (
        <p>{say('keys.made.replaces', { name: replaces.name, last4: replaces.last4 })}</p>
      )}
    </ShownOnce>
  );
}

/** Revokes a key, after showing how much it is used. */
function Revoke({
  of,
  onClose,
  onDone,
}: {
  readonly of: Key;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const { project } = useProject();
  const hour = useLoaded(
    (signal) =>
      annal.get(
        '/admin/projects/{project_id}/logs',
        { project_id: project, limit: 1, key: of.id, from: new Date(Date.now() - 3_600_000).toISOString() },
        { signal },
      ),
    [of.id],
  );
  const revoking = useAct(async () => {
    await annal.delete('/admin/keys/{key_id}', { key_id: of.id });
    return true;
  });
  return (
    <Confirm
      title={say('keys.revoke.of', { name: of.name })}
      says={
        <>
          <p>{say('keys.revoke.says', { last4: of.last4 })}</p>
          <p>{hour.value === undefined ? say('loading') : sayCount('keys.revoke.used', hour.value.total)}</p>
        </>
      }
      act={say('keys.revoke')}
      busy={revoking.isRunning}
      failure={revoking.failure}
      onClose={onClose}
      onConfirm={async () => {
        if ((await revoking.run(undefined)) === true) onDone();
      }}
    />
  );
}
