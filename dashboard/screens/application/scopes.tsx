/** Everything that an application may ask people for, in the consent page's words. */
import { useState } from 'preact/hooks';
import { annal, filled } from '../../api.ts';
import { useLoaded } from '../../load.ts';
import { Field, Problem, Shown, Table } from '../../parts/parts.tsx';
import { ConfirmSaving, Lines, missing, Save, useSaving, words } from '../../parts/saving.tsx';
import { language, say } from '../../texts/texts.ts';
import { changeApplication, type Part, Used } from './change.tsx';

/** Returns the part. */
export function Scopes(part: Part) {
  const { of, mayChange } = part;
  const registered = of.scopes.join(' ');
  const [draft, setDraft] = useState<string>();
  const described = useLoaded(
    (signal) =>
      annal.get(
        '/admin/applications/{application_id}/scopes',
        { application_id: of.id, lang: language.value, ...filled({ scope: draft }) },
        { signal },
      ),
    [of.id, registered, draft, language.value],
  );
  const saving = useSaving(async (scopes: string[]) => {
    await changeApplication(part, { scopes });
    setDraft(undefined);
    return true as const;
  });
  return (
    <section class="panel">
      <h2>{say('applications.scopes')}</h2>
      {mayChange ? (
        <form
          class="says"
          key={registered}
          onSubmit={(event) => {
            event.preventDefault();
            const scopes = words(new FormData(event.currentTarget).get('scopes'));
            saving.start(scopes, missing(of.scopes, scopes).length > 0);
          }}
        >
          <Field
            name="scopes"
            label={say('applications.scopes')}
            hint={say('applications.scopes.hint')}
            failure={saving.act.failure}
          >
            {(attributes) => (
              <textarea
                {...attributes}
                rows={Math.min(Math.max(of.scopes.length, 3), 12)}
                defaultValue={of.scopes.join('\n')}
                onChange={({ currentTarget }) => setDraft(words(currentTarget.value).join(' '))}
              />
            )}
          </Field>
          <Problem failure={saving.act.failure} />
          <Save of={saving} />
        </form>
      ) : null}
      <h3>{say('applications.scopes.read')}</h3>
      <Shown of={described}>
        {({ scopes }) => (
          <Table
            label={say('applications.scopes.read')}
            rows={scopes}
            keyOf={({ scope }) => scope}
            columns={[
              { title: say('applications.scope'), cell: ({ scope }) => <code>{scope}</code> },
              {
                title: say('applications.scope.says'),
                cell: ({ sentences }) =>
                  sentences.length === 0 ? (
                    <span class="quiet">{say('applications.scope.silent')}</span>
                  ) : (
                    sentences.map((sentence) => <div key={sentence}>{sentence}</div>)
                  ),
              },
            ]}
          />
        )}
      </Shown>
      <ConfirmSaving
        of={saving}
        title={say('applications.scopes.remove')}
        says={(asked) => (
          <>
            <p>{say('applications.scopes.remove.says')}</p>
            <div>
              <Lines of={missing(of.scopes, asked)} />
            </div>
            <Used of={of} />
          </>
        )}
      />
    </section>
  );
}
