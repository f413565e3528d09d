/** Applications that may use the identity grant. */
import { useState } from 'preact/hooks';
import { type Api, annal } from '../../api.ts';
import { useAct, useLoaded } from '../../load.ts';
import {
  Ago,
  Badge,
  Button,
  Confirm,
  Dialog,
  Empty,
  Field,
  Problem,
  Shown,
  Table,
} from '../../parts/parts.tsx';
import { say } from '../../texts/texts.ts';

type Application = Api.TrustedApplication;

const TRUST = '/admin/applications/{application_id}/trust';

/** Returns this part of the screen. */
export function Trusted() {
  const [asked, ask] = useState<'add' | Application>();
  const trusted = useLoaded(
    () => annal.list('/admin/operations/trusted-applications', { limit: 100 }).all(),
    [],
  );
  const done = (): void => {
    ask(undefined);
    void trusted.reload();
  };
  const ending = useAct(async ({ id }: Application) => {
    await annal.post(TRUST, { application_id: id, body: { trusted: false } });
    return true;
  });
  return (
    <section class="stack">
      <div class="head">
        <div>
          <h2>{say('ops.trusted')}</h2>
          <p class="quiet">{say('ops.trusted.says')}</p>
        </div>
        <Button onClick={() => ask('add')}>{say('ops.trust')}</Button>
      </div>
      <Shown of={trusted}>
        {(all) =>
          all.length === 0 ? (
            <Empty>
              <p>{say('ops.trusted.none')}</p>
            </Empty>
          ) : (
            <Table
              isStacked
              label={say('ops.trusted')}
              rows={all}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: say('name'),
                  cell: ({ id, name }) => (
                    <>
                      <strong>{name}</strong>
                      <div class="quiet">
                        <code>{id}</code>
                      </div>
                    </>
                  ),
                },
                {
                  title: say('ops.project'),
                  cell: ({ project, organization, environment }) => (
                    <>
                      {project.name} · {organization.name}{' '}
                      <Badge tone={environment}>{say(`environment.${environment}`)}</Badge>
                    </>
                  ),
                },
                {
                  title: say('ops.trusted.since'),
                  isWide: true,
                  cell: ({ trusted_at }) => <Ago at={trusted_at} />,
                },
                {
                  title: say('actions'),
                  cell: (application) => (
                    <Button
                      tone="danger"
                      aria-label={say('ops.trust.end.of', { name: application.name })}
                      onClick={() => ask(application)}
                    >
                      {say('ops.trust.end')}
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Shown>
      {asked === 'add' ? <Trust onClose={() => ask(undefined)} onDone={done} /> : null}
      {typeof asked === 'object' ? (
        <Confirm
          title={say('ops.trust.end.of', { name: asked.name })}
          says={<p>{say('ops.trust.end.says')}</p>}
          act={say('ops.trust.end')}
          busy={ending.isRunning}
          failure={ending.failure}
          onClose={() => {
            ending.reset();
            ask(undefined);
          }}
          onConfirm={async () => {
            if ((await ending.run(asked)) === true) done();
          }}
        />
      ) : null}
    </section>
  );
}

/** The operator gets the id from the application's owner, because no list contains all applications. */
function Trust({ onClose, onDone }: { readonly onClose: () => void; readonly onDone: () => void }) {
  const trusting = useAct((form: FormData) =>
    annal.post(TRUST, { application_id: String(form.get('id')).trim(), body: { trusted: true } }),
  );
  return (
    <Dialog title={say('ops.trust')} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if ((await trusting.run(new FormData(event.currentTarget))) !== undefined) onDone();
        }}
      >
        <p>{say('ops.trust.says')}</p>
        <Field
          name="id"
          label={say('ops.trust.id')}
          hint={say('ops.trust.id.hint')}
          failure={trusting.failure}
        >
          {(attributes) => (
            <input
              {...attributes}
              required
              pattern="\s*app_[\w\-]+\s*"
              autocomplete="off"
              spellcheck={false}
            />
          )}
        </Field>
        <Problem failure={trusting.failure} />
        <footer>
          <Button onClick={onClose}>{say('cancel')}</Button>
          <Button type="submit" tone="primary" busy={trusting.isRunning}>
            {say('ops.trust')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
