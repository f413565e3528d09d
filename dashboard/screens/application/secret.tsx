/** A client secret that was just made: only now it can be read. */
import { Button, Code, Dialog } from '../../parts/parts.tsx';
import { say } from '../../texts/texts.ts';

/** Returns the dialog. */
export function Secret({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <Dialog title={say('applications.secret')} onClose={onClose}>
      <p>
        <strong>{say('applications.secret.once')}</strong>
      </p>
      <Code text={secret} label={say('applications.secret')} />
      <footer>
        <Button tone="primary" onClick={onClose}>
          {say('keys.made.kept')}
        </Button>
      </footer>
    </Dialog>
  );
}
