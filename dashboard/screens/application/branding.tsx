/** The contents of the consent page other than an application's name. */
import { annal } from '../../api.ts';
import { Field, Problem } from '../../parts/parts.tsx';
import { Save, useSaving } from '../../parts/saving.tsx';
import { PLACE } from '../../place.ts';
import { say } from '../../texts/texts.ts';
import { type Application, changeApplication, type Part } from './change.tsx';

/** The settings that contain links. */
const LINKS = ['client_uri', 'tos_uri'] as const;

/** Returns the part. */
export function Branding(part: Part) {
  const { of, mayChange } = part;
  const { branding, privacy_url } = of;
  const saving = useSaving(async (form: FormData) => {
    const text = (name: string): string => String(form.get(name) ?? '').trim();
    const logo = await chosenLogo(of, form);
    const kept = { logo_uri: branding.logo_uri ?? '', logo: logo ?? '' };
    const all = { client_uri: text('client_uri'), tos_uri: text('tos_uri'), color: text('color'), ...kept };
    const body = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
    await annal.put('/admin/applications/{application_id}/branding', { application_id: of.id, body });
    const privacy = text('privacy_url');
    return changeApplication(part, { privacy_url: privacy === '' ? null : privacy });
  });
  const links = [
    ...LINKS.map((name) => [name, branding[name]] as const),
    ['privacy_url', privacy_url] as const,
  ];
  const logo =
    branding.logo === null ? null : (
      <img class="logo" src={pathOfLogo(branding.logo.url)} alt={say('applications.logo')} />
    );
  return (
    <section class="panel">
      <h2>{say('applications.branding')}</h2>
      <p class="quiet">{say('applications.branding.says')}</p>
      {mayChange ? (
        <form
          class="says"
          key={JSON.stringify([branding, privacy_url])}
          onSubmit={(event) => {
            event.preventDefault();
            saving.start(new FormData(event.currentTarget), false);
          }}
        >
          {links.map(([name, url]) => (
            <Field key={name} name={name} label={say(`applications.${name}`)} failure={saving.act.failure}>
              {(attributes) => (
                <input {...attributes} type="url" defaultValue={url ?? ''} autocomplete="off" />
              )}
            </Field>
          ))}
          <Field
            name="color"
            label={say('applications.color')}
            hint={say('applications.color.hint')}
            failure={saving.act.failure}
          >
            {(attributes) => <input {...attributes} defaultValue={branding.color ?? ''} autocomplete="off" />}
          </Field>
          {logo}
          <Field
            name="logo"
            label={say('applications.logo')}
            hint={say('applications.logo.hint')}
            failure={saving.act.failure}
          >
            {(attributes) => <input {...attributes} type="file" accept="image/png,image/jpeg,image/webp" />}
          </Field>
          {logo === null ? null : (
            <label class="tick">
              <input type="checkbox" name="without_logo" />
              <span>{say('applications.logo.remove')}</span>
            </label>
          )}
          <Problem failure={saving.act.failure} />
          <Save of={saving} />
        </form>
      ) : (
        <>
          {logo}
          <dl>
            {links.map(([name, url]) => (
              <>
                <dt>{say(`applications.${name}`)}</dt>
                <dd>{url === null ? '–' : <code>{url}</code>}</dd>
              </>
            ))}
            <dt>{say('applications.color')}</dt>
            <dd>{branding.color ?? '–'}</dd>
          </dl>
        </>
      )}
    </section>
  );
}

/** Returns the path of a logo on this service. */
function pathOfLogo(url: string): string {
  return PLACE.base + url.slice(url.indexOf('/oauth/logos/'));
}

/**
 * Returns the bytes of the logo chosen in a form, as base64; needed even if it hasn't changed, because the service replaces
 * all of the branding at once.
 */
async function chosenLogo({ branding }: Application, form: FormData): Promise<string | undefined> {
  const file = form.get('logo');
  if (file instanceof File && file.size > 0) return toBase64(file);
  if (branding.logo === null || form.get('without_logo') !== null) return undefined;
  const answer = await fetch(pathOfLogo(branding.logo.url));
  if (!answer.ok) throw new Error(say('applications.logo.unread'));
  return toBase64(await answer.blob());
}

async function toBase64(bytes: Blob): Promise<string> {
  const all = new Uint8Array(await bytes.arrayBuffer());
  return btoa(Array.from(all, (byte) => String.fromCharCode(byte)).join(''));
}
