/** Plans a take-back: what to select, and why. Writes nothing yet. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { annal, filled } from '../../api.ts';
import { type Credential, useCredentials } from '../../credentials.ts';
import { pathOf, useProject } from '../../here.ts';
import { type Act, useAct } from '../../load.ts';
import { Button, Field, Head, Problem } from '../../parts/parts.tsx';
import { say } from '../../texts/texts.ts';
import { ROUTE, TAKEBACKS } from './parts.tsx';

const SELECTORS = ['source_system', 'key_id', 'application_id', 'author_type'] as const;
type Selector = (typeof SELECTORS)[number];

/** Returns the screen. */
export function PlanTakeback() {
  const here = useProject();
  const { route } = useLocation();
  const [chosen, choose] = useState<readonly Selector[]>([]);
  const planning = useAct((form: FormData) =>
    annal.post(ROUTE, {
      project_id: here.project,
      body: {
        select: readSelection(form, chosen),
        environment: here.environment,
        reason: String(form.get('reason')).trim(),
        ...filled({ since: readMoment(form.get('since')), until: readMoment(form.get('until')) }),
      },
    }),
  );
  return (
    <>
      <p>
        <a href={pathOf(here, TAKEBACKS)}>{say('takebacks.title')}</a>
      </p>
      <Head title={say('takebacks.plan')} about={say('takeback.plan.says')} />
      <form
        class="panel"
        onSubmit={async (event) => {
          event.preventDefault();
          const made = await planning.run(new FormData(event.currentTarget));
          if (made !== undefined) route(pathOf(here, `${TAKEBACKS}/${made.id}`));
        }}
      >
        <fieldset>
          <legend>{say('takeback.by')}</legend>
          <p class="quiet">{say('takeback.by.says')}</p>
          {SELECTORS.map((selector) => (
            <SelectorField
              key={selector}
              selector={selector}
              isChosen={chosen.includes(selector)}
              failure={planning.failure}
              onChoose={(isChosen) =>
                choose(SELECTORS.filter((each) => (each === selector ? isChosen : chosen.includes(each))))
              }
            />
          ))}
        </fieldset>
        <fieldset>
          <legend>{say('takeback.when')}</legend>
          <p class="quiet">{say('takeback.when.says')}</p>
          <div class="fields">
            {(['since', 'until'] as const).map((name) => (
              <Field
                key={name}
                name={name}
                label={say(`takeback.${name}`)}
                hint={say(`takeback.${name}.hint`)}
                failure={planning.failure}
              >
                {(attributes) => <input {...attributes} type="datetime-local" step={1} />}
              </Field>
            ))}
          </div>
        </fieldset>
        <Field
          name="reason"
          label={say('takeback.reason')}
          hint={say('takeback.reason.hint')}
          failure={planning.failure}
        >
          {(attributes) => <input {...attributes} required maxLength={500} autocomplete="off" />}
        </Field>
        <Problem failure={planning.failure} />
        <p>
          <Button type="submit" tone="primary" busy={planning.isRunning} disabled={chosen.length === 0}>
            {say('takeback.plan.make')}
          </Button>
        </p>
        {planning.isRunning ? <p role="status">{say('takeback.plan.making')}</p> : null}
      </form>
    </>
  );
}

/** A selector; once it is ticked, it shows a field for its value. */
function SelectorField({
  selector,
  isChosen,
  failure,
  onChoose,
}: {
  readonly selector: Selector;
  readonly isChosen: boolean;
  readonly failure: Act<FormData, unknown>['failure'];
  readonly onChoose: (isChosen: boolean) => void;
}) {
  return (
    <>
      <label class="tick">
        <input
          type="checkbox"
          checked={isChosen}
          onChange={({ currentTarget: { checked } }) => onChoose(checked)}
        />
        <span>
          <strong>{say(`takeback.by.${selector}`)}</strong>
          <span class="quiet">{say(`takeback.by.${selector}.says`)}</span>
        </span>
      </label>
      {isChosen ? (
        <div class="chosen">
          <ValueField selector={selector} failure={failure} />
        </div>
      ) : null}
    </>
  );
}

function ValueField({
  selector,
  failure,
}: {
  readonly selector: Selector;
  readonly failure: Act<FormData, unknown>['failure'];
}): ComponentChildren {
  const { environment } = useProject();
  const { keys, applications, areLoaded } = useCredentials();
  const text = (name: string, label: string, hint: string, required: boolean) => (
    <Field name={`select.${name}`} label={label} hint={hint} failure={failure}>
      {(attributes) => (
        <input {...attributes} name={name} required={required} maxLength={200} autocomplete="off" />
      )}
    </Field>
  );
  const list = (name: string, label: string, all: readonly Credential[], none: string) => {
    const some = all.filter((each) => each.environment === environment);
    return (
      <Field
        name={`select.${name}`}
        label={label}
        hint={areLoaded && some.length === 0 ? none : undefined}
        failure={failure}
      >
        {(attributes) => (
          <select {...attributes} name={name} required>
            <option value="">{say('takeback.choose')}</option>
            {some.map(({ id, label: called }) => (
              <option key={id} value={id}>
                {called}
              </option>
            ))}
          </select>
        )}
      </Field>
    );
  };
  if (selector === 'source_system')
    return text(selector, say('audit.source'), say('takeback.source.hint'), true);
  if (selector === 'key_id') return list(selector, say('audit.key'), keys, say('takeback.key.none'));
  if (selector === 'application_id')
    return list(selector, say('audit.application'), applications, say('takeback.application.none'));
  return text('model', say('takeback.model.one'), say('takeback.model.hint'), false);
}

function readSelection(form: FormData, chosen: readonly Selector[]) {
  const read = (name: string): string | undefined => {
    const given = form.get(name);
    return given === null ? undefined : String(given).trim();
  };
  return filled({
    source_system: read('source_system'),
    key_id: read('key_id'),
    application_id: read('application_id'),
    author_type: chosen.includes('author_type') ? ('ai' as const) : undefined,
    model: read('model'),
  });
}

/** Returns the instant entered in a browser's input field, which is in local time. */
function readMoment(given: FormDataEntryValue | null): string | undefined {
  const text = String(given ?? '');
  return text === '' ? undefined : new Date(text).toISOString();
}
