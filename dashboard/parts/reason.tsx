/** Asks why production records are needed before they are shown. */
import type { ComponentType } from 'preact';
import { useProject } from '../here.ts';
import { dropReason, giveReason, reasonFor } from '../reason.ts';
import { say, type TextKey } from '../texts/texts.ts';
import { Button, Field, Head } from './parts.tsx';

/** Returns true if this screen's records still need a reason. */
export function useNeedsReason(): boolean {
  const here = useProject();
  return here.environment === 'production' && here.mayRead && reasonFor(here.project) === undefined;
}

/** The form that asks. */
export function AskReason() {
  const here = useProject();
  return (
    <form
      class="panel"
      onSubmit={(event) => {
        event.preventDefault();
        const reason = String(new FormData(event.currentTarget).get('reason')).trim();
        if (reason.length >= 3) giveReason(here.project, reason);
      }}
    >
      <p>{say('reason.says')}</p>
      <Field name="reason" label={say('reason.label')} hint={say('reason.hint')}>
        {(attributes) => (
          <input
            {...attributes}
            required
            minLength={3}
            maxLength={200}
            pattern=".*\S.*\S.*\S.*"
            autocomplete="off"
          />
        )}
      </Field>
      <p>
        <Button type="submit" tone="primary">
          {say('reason.open')}
        </Button>
      </p>
    </form>
  );
}

/** The reason that is sent with what is opened now, and a button to change it. */
function GivenReason() {
  const here = useProject();
  const reason = here.environment === 'production' ? reasonFor(here.project) : undefined;
  if (reason === undefined) return null;
  return (
    <p class="quiet small screen">
      {say('reason.given', { reason })}{' '}
      <Button tone="link" onClick={() => dropReason(here.project)}>
        {say('reason.change')}
      </Button>
    </p>
  );
}

/**
 * Returns a screen about records. In production, it appears only for people whose role allows it, after they have given a
 * reason.
 * @param title the screen's title
 */
export function withReason(Screen: ComponentType, title: TextKey): ComponentType {
  return () => {
    const here = useProject();
    const needs = useNeedsReason();
    if (here.mayRead && !needs)
      return (
        <>
          <GivenReason />
          <Screen />
        </>
      );
    return (
      <>
        <Head title={say(title)} />
        {here.mayRead ? <AskReason /> : <p class="note">{say('patients.notYours')}</p>}
      </>
    );
  };
}
