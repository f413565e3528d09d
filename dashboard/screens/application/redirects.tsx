/** Where people come back to from the consent page, and after they signed out. */
import { Confirm, Field, Problem } from '../../parts/parts.tsx';
import { say } from '../../texts/texts.ts';
import { changeApplication, Lines, missing, type Part, Save, Used, useSaving, words } from './change.tsx';

/** Returns the part. */
export function Redirects(part: Part) {
  const { of, mayChange } = part;
  const { redirect_uris, post_logout_redirect_uris } = of;
  const saving = useSaving((change: { redirect_uris: string[]; post_logout_redirect_uris: string[] }) =>
    changeApplication(part, change),
  );
  const removed = missing(
    [...redirect_uris, ...post_logout_redirect_uris],
    saving.asked === undefined
      ? [...redirect_uris, ...post_logout_redirect_uris]
      : [...saving.asked.redirect_uris, ...saving.asked.post_logout_redirect_uris],
  );
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
            const ends =
              missing(redirect_uris, change.redirect_uris).length +
              missing(post_logout_redirect_uris, change.post_logout_redirect_uris).length;
            saving.start(change, ends > 0);
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
      {saving.asked === undefined ? null : (
        <Confirm
          title={say('applications.redirects.remove')}
          says={
            <>
              <p>{say('applications.redirects.remove.says')}</p>
              <div>
                <Lines of={removed} />
              </div>
              <Used of={of} />
            </>
          }
          act={say('applications.redirects.remove')}
          busy={saving.act.isRunning}
          failure={saving.act.failure}
          onClose={saving.cancel}
          onConfirm={saving.confirm}
        />
      )}
    </section>
  );
}
