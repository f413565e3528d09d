/** Starts a rebuild once the read models' names have been typed. */
import { useState } from 'preact/hooks';
import { annal } from '../../api.ts';
import { useAct } from '../../load.ts';
import { Button, Dialog, Problem } from '../../parts/parts.tsx';
import { words } from '../../parts/saving.tsx';
import { say } from '../../texts/texts.ts';
import { ConfirmField } from './confirm-field.tsx';

const LOADS = ['low', 'full'] as const;

/**
 * Returns the dialog.
 * @param chosen the read models to rebuild; if empty, the person chooses
 */
export function StartRebuild({
  models,
  chosen,
  onClose,
  onStarted,
}: {
  readonly models: readonly string[];
  readonly chosen: readonly string[];
  readonly onClose: () => void;
  readonly onStarted: () => void;
}) {
  const [names, choose] = useState(chosen);
  const [typed, type] = useState('');
  const starting = useAct((form: FormData) =>
    annal.post('/admin/operations/rebuilds', {
      body: {
        read_models: [...names],
        confirm: words(typed),
        load: form.get('load') === 'full' ? 'full' : 'low',
        force: form.get('force') !== null,
      },
    }),
  );
  const expected = names.join(' ');
  const isTyped = names.length > 0 && words(typed).sort().join(' ') === [...names].sort().join(' ');
  const title =
    chosen.length === 0 ? say('ops.rebuild.several') : say('ops.rebuild.of', { names: chosen.join(', ') });
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (isTyped && (await starting.run(new FormData(event.currentTarget))) !== undefined) onStarted();
        }}
      >
        <p>{say('ops.rebuild.says')}</p>
        {chosen.length > 0 ? null : (
          <fieldset>
            <legend>{say('ops.models')}</legend>
            {models.map((name) => (
              <label key={name} class="tick">
                <input
                  type="checkbox"
                  checked={names.includes(name)}
                  onChange={({ currentTarget: { checked } }) =>
                    choose(models.filter((each) => (each === name ? checked : names.includes(each))))
                  }
                />
                <code>{name}</code>
              </label>
            ))}
          </fieldset>
        )}
        <fieldset>
          <legend>{say('ops.load')}</legend>
          {LOADS.map((load) => (
            <label key={load} class="tick">
              <input type="radio" name="load" value={load} defaultChecked={load === 'low'} />
              <span>
                <strong>{say(`ops.load.${load}`)}</strong>
                <span class="quiet">{say(`ops.load.${load}.says`)}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <label class="tick">
          <input type="checkbox" name="force" />
          <span>
            <strong>{say('ops.force')}</strong>
            <span class="quiet">{say('ops.force.says')}</span>
          </span>
        </label>
        <ConfirmField
          hint={names.length === 0 ? say('ops.confirm.choose') : say('ops.confirm.hint', { names: expected })}
          failure={starting.failure}
          typed={typed}
          onType={type}
        />
        <Problem failure={starting.failure} />
        <footer>
          <Button onClick={onClose}>{say('cancel')}</Button>
          <Button type="submit" tone="primary" busy={starting.isRunning} disabled={!isTyped}>
            {say('ops.rebuild.start')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
