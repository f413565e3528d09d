/** The URLs to which people return from the consent page, and after they sign out. */
import { Field, Problem } from '../../parts/parts.tsx';
import { ConfirmSaving, Lines, missing, Save, useSaving, words } from '../../parts/saving.tsx';
import { say } from '../../texts/texts.ts';
import { changeApplication, type Part, Used } from './change.tsx';

interface Uris {
  readonly redirect_uris: string[];
  readonly post_logout_redirect_uris: string[];
}

/** Returns the part. */
export function Redirects(part: Part) {
  const { of, mayChange } = part;
  const { redirect_uris, post_logout_redirect_uris } = of;
  const saving = useSaving((change: Uris) => changeApplication(part, change));
  const removedBy = (change: Uris): string[] => [
    ...missing(redirect_uris, change.redirect_uris),
    ...missing(post_logout_redirect_uris, change.post_logout_redirect_uris),
  ];
  return (
    <section class="panel">
      <h2>{say('applications.redirects')}</h2>
      {mayChange ? (
        <form
          class="says"
          key={JSON.stringify([redirect_uris, post_logout_redirect_uris])}
          onSubmit={(event) => {
            event.preventDefault();
            const form = new FormData(event.currentTarget);
            const change = {
              redirect_uris: words(form.get('redirect_uris')),
              post_logout_redirect_uris: words(form.get('post_logout_redirect_uris')),
            };
            saving.start(change, removedBy(change).length > 0);
          }}
        >
          <Field
            name="redirect_uris"
            label={say('applications.redirects')}
            hint={say('applications.redirects.hint')}
            failure={saving.act.failure}
          >
            {(attributes) => <textarea {...attributes} rows={3} defaultValue={redirect_uris.join('\n')} />}
          </Field>
          <Field
            name="post_logout_redirect_uris"
            label={say('applications.logout')}
            hint={say('applications.logout.hint')}
            failure={saving.act.failure}
          >
            {(attributes) => (
              <textarea {...attributes} rows={2} defaultValue={post_logout_redirect_uris.join('\n')} />
            )}
          </Field>
          <Problem failure={saving.act.failure} />
          <Save of={saving} />
        </form>
      ) : (
        <dl>
          <dt>{say('applications.redirects')}</dt>
          <dd>
            <Lines of={redirect_uris} />
          </dd>
          <dt>{say('applications.logout')}</dt>
          <dd>
            <Lines of={post_logout_redirect_uris} />
          </dd>
        </dl>
      )}
      <ConfirmSaving
        of={saving}
        title={say('applications.redirects.remove')}
        says={(asked) => (
          <>
            <p>{say('applications.redirects.remove.says')}</p>
            <div>
              <Lines of={removedBy(asked)} />
            </div>
            <Used of={of} />
          </>
        )}
      />
    </section>
  );
}
