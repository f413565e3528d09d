/** A new client secret, which can be read only this once. */
import { ShownOnce } from '../../parts/parts.tsx';
import { say } from '../../texts/texts.ts';

/** Returns the dialog. */
export function Secret({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <ShownOnce
      title={say('applications.secret')}
      says={say('applications.secret.once')}
      text={secret}
      onClose={onClose}
    />
  );
}
