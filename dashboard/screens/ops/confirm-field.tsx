/** A field in which to type names before an action that can't easily be undone. */
import type { ComponentProps } from 'preact';
import { Field } from '../../parts/parts.tsx';
import { say } from '../../texts/texts.ts';

/**
 * Returns the field.
 * @param onType called with all the text typed so far
 */
export function ConfirmField({
  typed,
  onType,
  ...given
}: Pick<ComponentProps<typeof Field>, 'hint' | 'failure'> & {
  readonly typed: string;
  readonly onType: (typed: string) => void;
}) {
  return (
    <Field name="confirm" label={say('ops.confirm')} {...given}>
      {(attributes) => (
        <input
          {...attributes}
          required
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={typed}
          onInput={({ currentTarget: { value } }) => onType(value)}
        />
      )}
    </Field>
  );
}
