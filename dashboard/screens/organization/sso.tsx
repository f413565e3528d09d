/** The settings for where the organization's people sign in. */
import { annal } from '../../api.ts';
import { useProject } from '../../here.ts';
import { Field, Problem } from '../../parts/parts.tsx';
import { ConfirmSaving, Lines, missing, Save, useSaving, words } from '../../parts/saving.tsx';
import { includesRole, loadAccount } from '../../session.ts';
import { say } from '../../texts/texts.ts';

interface Settings {
  readonly issuer: string;
  readonly client_id: string;
  readonly domains: string[];
}

const NONE: Settings = { issuer: '', client_id: '', domains: [] };

/** Returns the part. */
export function SingleSignOn() {
  const { organization, role } = useProject();
  const { sso, confirmed_domain: confirmed } = organization;
  const present: Settings = sso ?? NONE;
  const saving = useSaving(async (body: Settings) => {
    await annal.put('/admin/organizations/{org_id}/sso', { org_id: organization.id, body });
    await loadAccount();
    return true as const;
  });
  const isOwner = includesRole(role, 'owner');
  return (
    <section class="panel">
      <h2>{say('sso.title')}</h2>
      <p>{say('sso.says')}</p>
      {includesRole(role, 'admin') && (isOwner || sso !== null) ? (
        <form
          class="says"
          key={JSON.stringify(present)}
          onSubmit={(event) => {
            event.preventDefault();
            const form = new FormData(event.currentTarget);
            const asked = {
              issuer: String(form.get('issuer')).trim(),
              client_id: String(form.get('client_id')).trim(),
              domains: words(form.get('domains')),
            };
            saving.start(asked, endings(present, asked, confirmed).length > 0);
          }}
        >
          <Field
            name="issuer"
            label={say('sso.issuer')}
            hint={say(isOwner ? 'sso.issuer.hint' : 'sso.ofOwners')}
            failure={saving.act.failure}
          >
            {(attributes) => (
              <input
                {...attributes}
                required
                readOnly={!isOwner}
                defaultValue={present.issuer}
                autocomplete="off"
              />
            )}
          </Field>
          <Field
            name="client_id"
            label="client_id"
            hint={say('sso.client.hint')}
            failure={saving.act.failure}
          >
            {(attributes) => (
              <input
                {...attributes}
                required
                readOnly={!isOwner}
                defaultValue={present.client_id}
                autocomplete="off"
              />
            )}
          </Field>
          <Field
            name="domains"
            label={say('sso.domains')}
            hint={say('sso.domains.hint')}
            failure={saving.act.failure}
          >
            {(attributes) => <textarea {...attributes} rows={2} defaultValue={present.domains.join('\n')} />}
          </Field>
          <Problem failure={saving.act.failure} />
          <Save of={saving} />
        </form>
      ) : sso === null ? (
        <p class="note">{say('sso.none')}</p>
      ) : (
        <dl>
          <dt>{say('sso.issuer')}</dt>
          <dd>
            <code>{sso.issuer}</code>
          </dd>
          <dt>client_id</dt>
          <dd>
            <code>{sso.client_id}</code>
          </dd>
          <dt>{say('sso.domains')}</dt>
          <dd>
            <Lines of={sso.domains} />
          </dd>
        </dl>
      )}
      <ConfirmSaving
        of={saving}
        title={say('sso.change')}
        says={(asked) =>
          endings(present, asked, confirmed).map((sentence) => <p key={sentence}>{sentence}</p>)
        }
      />
    </section>
  );
}

/** Says what ends if the settings change. */
function endings(before: Settings, after: Settings, confirmed: string | null): string[] {
  const gone = missing(before.domains, after.domains);
  const isElsewhere =
    before !== NONE && (before.issuer !== after.issuer || before.client_id !== after.client_id);
  const losesDomain = confirmed !== null && !after.domains.includes(confirmed);
  return [
    ...(isElsewhere ? [say('sso.ends.issuer', { issuer: before.issuer })] : []),
    ...gone.map((domain) => say('sso.ends.domain', { domain })),
    ...(losesDomain ? [say('sso.ends.confirmed', { domain: confirmed })] : []),
  ];
}
