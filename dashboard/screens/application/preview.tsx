/** The consent page as people will see it, for the chosen scopes and in each of its languages. */
import { useState } from 'preact/hooks';
import { annal, withQuery } from '../../api.ts';
import { useLoaded } from '../../load.ts';
import { Shown } from '../../parts/parts.tsx';
import { missing } from '../../parts/saving.tsx';
import { language, say } from '../../texts/texts.ts';
import type { Application } from './change.tsx';

/** Returns the part. */
export function Preview({ of }: { readonly of: Application }) {
  const [lang, setLang] = useState<string>(language.value);
  const [left, setLeft] = useState<readonly string[]>([]);
  const described = useLoaded(
    (signal) =>
      annal.get('/admin/applications/{application_id}/scopes', { application_id: of.id, lang }, { signal }),
    [of.id, of.scopes.join(' '), lang],
  );
  const scope = missing(of.scopes, left).join(' ');
  const page = useLoaded(
    async (signal) =>
      (
        await annal.send(
          'GET',
          withQuery(`/admin/applications/${of.id}/consent-page`, { lang }) +
            `&${new URLSearchParams({ scope })}`,
          undefined,
          { signal },
        )
      ).text,
    [of.id, JSON.stringify(of), lang, scope],
  );
  return (
    <section class="panel">
      <header class="head">
        <h2>{say('preview.title')}</h2>
        <label>
          {say('preview.language')}{' '}
          <select value={lang} onChange={({ currentTarget }) => setLang(currentTarget.value)}>
            {(described.value?.languages ?? [{ lang, name: lang }]).map((each) => (
              <option key={each.lang} value={each.lang} lang={each.lang}>
                {each.name}
              </option>
            ))}
          </select>
        </label>
      </header>
      <p class="quiet">{say('preview.says')}</p>
      <details>
        <summary>{say('preview.scopes')}</summary>
        <fieldset>
          <legend class="away">{say('preview.scopes')}</legend>
          {of.scopes.map((each) => (
            <label key={each} class="tick">
              <input
                type="checkbox"
                checked={!left.includes(each)}
                onChange={({ currentTarget }) =>
                  setLeft(currentTarget.checked ? missing(left, [each]) : [...left, each])
                }
              />
              <code>{each}</code>
            </label>
          ))}
        </fieldset>
      </details>
      <Shown of={page}>
        {(text) => <iframe class="preview" title={say('preview.title')} sandbox="" srcdoc={text} />}
      </Shown>
    </section>
  );
}
