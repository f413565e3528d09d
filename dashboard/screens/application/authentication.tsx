/** How an application authenticates: with a secret, by signing with its keys, or not at all. */
import { useState } from 'preact/hooks';
import { annal } from '../../api.ts';
import { useAct } from '../../load.ts';
import { Button, Dialog, Field, Problem, Table } from '../../parts/parts.tsx';
import { say, sayHours, sayMoment, type TextKey } from '../../texts/texts.ts';
import { type Application, changeApplication, type Part, Used } from './change.tsx';
import { readKeySet } from './key-set.ts';
import { Secret } from './secret.tsx';

/** How long the previous secret may keep working, in hours; the service allows 0 to 168. */
const OVERLAPS = [24, 0, 1, 72, 168];

type Asked = { readonly kind: 'rotate' | 'keys' } | { readonly kind: 'secret'; readonly secret: string };

/** Returns true if an application signs with keys. */
function hasKeys({ jwks, jwks_uri }: Application): boolean {
  return jwks !== null || jwks_uri !== null;
}

/** Returns the part. */
export function Authentication(part: Part) {
  const { of, mayChange } = part;
  const [asked, ask] = useState<Asked>();
  const close = (): void => ask(undefined);
  if (of.kind === 'public')
    return (
      <section class="panel">
        <h2>{say('applications.proof')}</h2>
        <p>{say('applications.proof.public')}</p>
      </section>
    );
  return (
    <section class="panel">
      <header class="head">
        <h2>{say('applications.proof')}</h2>
        {mayChange ? (
          <div class="acts">
            {hasKeys(of) ? null : (
              <Button onClick={() => ask({ kind: 'rotate' })}>{say('applications.rotate')}</Button>
            )}
            <Button onClick={() => ask({ kind: 'keys' })}>
              {say(hasKeys(of) ? 'applications.keys.replace' : 'applications.keys.set')}
            </Button>
          </div>
        ) : null}
      </header>
      <Proof of={of} />
      {asked?.kind === 'rotate' ? (
        <Rotate {...part} onClose={close} onMade={(secret) => ask({ kind: 'secret', secret })} />
      ) : null}
      {asked?.kind === 'keys' ? <Keys {...part} onClose={close} /> : null}
      {asked?.kind === 'secret' ? <Secret secret={asked.secret} onClose={close} /> : null}
    </section>
  );
}

/** Shows the keys, their URL, or how long the previous secret keeps working. */
function Proof({ of }: { readonly of: Application }) {
  const { jwks, jwks_uri, previous_secret_expires_at } = of;
  if (jwks_uri !== null)
    return (
      <>
        <p>{say('applications.keys.fetched')}</p>
        <p>
          <code>{jwks_uri}</code>
        </p>
      </>
    );
  if (jwks === null)
    return (
      <p>
        {say('applications.proof.secret')}{' '}
        {previous_secret_expires_at === null
          ? ''
          : say('applications.proof.previous', { moment: sayMoment(previous_secret_expires_at) })}
      </p>
    );
  return (
    <>
      <p>{say('applications.keys.registered')}</p>
      <Table
        label={say('applications.keys')}
        rows={jwks.keys}
        keyOf={(key) => JSON.stringify(key)}
        columns={[
          { title: 'kid', cell: ({ kid }) => (kid === undefined ? '–' : <code>{String(kid)}</code>) },
          { title: 'kty', cell: ({ kty }) => <code>{kty}</code> },
          {
            title: say('applications.keys.size'),
            cell: ({ crv, n }) =>
              crv === undefined
                ? say('applications.keys.bits', { bits: Math.floor((String(n).length * 6) / 8) * 8 })
                : String(crv),
          },
          {
            title: 'alg',
            isWide: true,
            cell: ({ alg }) => (alg === undefined ? '–' : <code>{String(alg)}</code>),
          },
        ]}
      />
    </>
  );
}

function Rotate({
  of,
  onChanged,
  onClose,
  onMade,
}: Part & { readonly onClose: () => void; readonly onMade: (secret: string) => void }) {
  const rotating = useAct(async (overlap_hours: number) => {
    const made = await annal.post('/admin/applications/{application_id}/secrets', {
      application_id: of.id,
      body: { overlap_hours },
    });
    await onChanged();
    return made.client_secret;
  });
  const { previous_secret_expires_at: until } = of;
  return (
    <Dialog title={say('applications.rotate')} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          const secret = await rotating.run(Number(form.get('overlap_hours')));
          if (secret !== undefined) onMade(secret);
        }}
      >
        <p>{say('applications.rotate.says')}</p>
        {until === null ? null : <p>{say('applications.rotate.ends', { moment: sayMoment(until) })}</p>}
        <Used of={of} />
        <Field name="overlap_hours" label={say('applications.overlap')} failure={rotating.failure}>
          {(attributes) => (
            <select {...attributes}>
              {OVERLAPS.map((hours) => (
                <option key={hours} value={hours}>
                  {hours === 0 ? say('applications.overlap.none') : sayHours(hours)}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Problem failure={rotating.failure} />
        <footer>
          <Button onClick={onClose}>{say('cancel')}</Button>
          <Button type="submit" tone="primary" busy={rotating.isRunning}>
            {say('applications.rotate')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

function Keys(part: Part & { readonly onClose: () => void }) {
  const { of, onClose } = part;
  const [isFetched, setFetched] = useState(of.jwks_uri !== null);
  const [wrong, setWrong] = useState<TextKey>();
  const setting = useAct((change: Parameters<typeof changeApplication>[1]) =>
    changeApplication(part, change),
  );
  const save = async (form: FormData): Promise<void> => {
    setWrong(undefined);
    const jwks = isFetched ? undefined : readKeySet(String(form.get('jwks')));
    if (typeof jwks === 'string') return setWrong(jwks);
    const done = await setting.run(
      jwks === undefined ? { jwks_uri: String(form.get('jwks_uri')) } : { jwks },
    );
    if (done === true) onClose();
  };
  return (
    <Dialog
      title={say(hasKeys(of) ? 'applications.keys.replace' : 'applications.keys.set')}
      onClose={onClose}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save(new FormData(event.currentTarget));
        }}
      >
        <p>{say(hasKeys(of) ? 'applications.keys.replace.says' : 'applications.keys.set.says')}</p>
        <Used of={of} />
        <fieldset>
          <legend>{say('applications.keys')}</legend>
          {[false, true].map((fetched) => (
            <label key={String(fetched)} class="tick">
              <input
                type="radio"
                name="where"
                checked={isFetched === fetched}
                onChange={() => setFetched(fetched)}
              />
              <span>
                <strong>{fetched ? 'jwks_uri' : 'jwks'}</strong>
                <span class="quiet">
                  {say(fetched ? 'applications.keys.jwksUri' : 'applications.keys.jwks')}
                </span>
              </span>
            </label>
          ))}
        </fieldset>
        {isFetched ? (
          <Field name="jwks_uri" label="jwks_uri" failure={setting.failure}>
            {(attributes) => (
              <input
                {...attributes}
                required
                type="url"
                defaultValue={of.jwks_uri ?? ''}
                autocomplete="off"
              />
            )}
          </Field>
        ) : (
          <Field
            name="jwks"
            label={say('applications.keys.paste')}
            hint={say('applications.keys.paste.hint')}
            failure={setting.failure}
          >
            {(attributes) => (
              <textarea {...attributes} required rows={8} spellcheck={false} autocomplete="off" />
            )}
          </Field>
        )}
        {wrong === undefined ? null : (
          <p class="problem" role="alert">
            {say(wrong)}
          </p>
        )}
        <Problem failure={setting.failure} />
        <footer>
          <Button onClick={onClose}>{say('cancel')}</Button>
          <Button type="submit" tone={hasKeys(of) ? 'primary' : 'danger'} busy={setting.isRunning}>
            {say(hasKeys(of) ? 'applications.keys.replace' : 'applications.keys.set')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
