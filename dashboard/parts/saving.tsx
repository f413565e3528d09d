/** Forms that save settings, and ask for confirmation first if saving ends something. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Act, useAct } from '../load.ts';
import { say } from '../texts/texts.ts';
import { Button, Confirm } from './parts.tsx';

/** Saving a form, which asks for confirmation first if saving ends something. */
export interface Saving<Input> {
  readonly act: Act<Input, true>;
  /** The save that is waiting for confirmation. */
  readonly asked: Input | undefined;
  readonly isSaved: boolean;
  /** Saves immediately, or asks first. */
  start(input: Input, asksFirst: boolean): void;
  confirm(): void;
  cancel(): void;
}

/** Returns the state of saving a form. */
export function useSaving<Input>(save: (input: Input) => Promise<true>): Saving<Input> {
  const [asked, ask] = useState<Input>();
  const [isSaved, setSaved] = useState(false);
  const act = useAct(save);
  const run = async (input: Input): Promise<void> => {
    setSaved(false);
    const done = await act.run(input);
    ask(undefined);
    setSaved(done === true);
  };
  return {
    act,
    asked,
    isSaved,
    start(input, asksFirst) {
      setSaved(false);
      if (asksFirst) ask(() => input);
      else void run(input);
    },
    confirm() {
      if (asked !== undefined) void run(asked);
    },
    cancel: () => ask(undefined),
  };
}

/** A form's button, and an indication of whether the form is saved. */
export function Save({
  of,
}: {
  readonly of: Pick<Saving<unknown>, 'isSaved'> & { readonly act: { readonly isRunning: boolean } };
}) {
  return (
    <p class="acts">
      <Button type="submit" busy={of.act.isRunning}>
        {say('save')}
      </Button>
      <span role="status" class="quiet">
        {of.isSaved ? say('saved') : ''}
      </span>
    </p>
  );
}

/**
 * Asks for confirmation of a save that ends something.
 * @param title the action, also used on the button
 */
export function ConfirmSaving<Input>({
  of: { act, asked, cancel, confirm },
  title,
  says,
}: {
  readonly of: Saving<Input>;
  readonly title: string;
  readonly says: (asked: Input) => ComponentChildren;
}) {
  if (asked === undefined) return null;
  return (
    <Confirm
      title={title}
      says={says(asked)}
      act={title}
      busy={act.isRunning}
      failure={act.failure}
      onClose={cancel}
      onConfirm={confirm}
    />
  );
}

/** Returns the words between spaces and line breaks. */
export function words(text: FormDataEntryValue | null): string[] {
  return String(text ?? '')
    .split(/\s+/)
    .filter((word) => word !== '');
}

/** Returns the items of the first list that are missing from the second. */
export function missing(before: readonly string[], after: readonly string[]): string[] {
  return before.filter((each) => !after.includes(each));
}

/** Shows strings as code, one per line. */
export function Lines({ of }: { readonly of: readonly string[] }) {
  return (
    <>
      {of.map((line) => (
        <div key={line}>
          <code>{line}</code>
        </div>
      ))}
    </>
  );
}
