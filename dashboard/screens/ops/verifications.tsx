/** Verifications of everything and their reports, the checkpoints, and the key that signs checkpoints. */
import { useRoute } from 'preact-iso';
import { annal } from '../../api.ts';
import { useAct, useLoaded } from '../../load.ts';
import { Button, Head, Problem, Shown } from '../../parts/parts.tsx';
import { PLACE } from '../../place.ts';
import { say } from '../../texts/texts.ts';
import { Checkpoints } from '../audit/checkpoints.tsx';
import { useVerifications, VerificationList, VerificationView } from '../audit/verifying.tsx';

/** The response from `/.well-known/audit-keys`. */
interface KeySet {
  readonly keys: readonly { readonly x: string; readonly kid: string }[];
}

const PATH = `${PLACE.root}/ops/verifications`;

/** Returns the screen. */
export function OpsVerifications() {
  const verifications = useVerifications();
  const key = useLoaded(async (signal): Promise<KeySet> => {
    const answer = await fetch(`${PLACE.base}/.well-known/audit-keys`, { signal });
    if (!answer.ok) throw new Error(String(answer.status));
    return answer.json();
  }, []);
  const starting = useAct(async () => {
    await annal.post('/admin/operations/verifications', { body: { scope: 'all' } });
    await verifications.reload();
    return true;
  });
  return (
    <>
      <Head title={say('audit.verifications')} about={say('ops.verifications.says')}>
        <Button tone="primary" busy={starting.isRunning} onClick={() => void starting.run(undefined)}>
          {say('ops.verify.all')}
        </Button>
      </Head>
      <Problem failure={starting.failure} />
      <VerificationList verifications={verifications} pathTo={(id) => `${PATH}/${id}`} />
      <Checkpoints project={undefined} />
      <section class="panel">
        <h2>{say('ops.key')}</h2>
        <p class="quiet">{say('ops.key.says')}</p>
        <Shown of={key}>
          {({ keys }) => (
            <ul>
              {keys.map(({ x, kid }) => (
                <li key={kid} style={{ overflowWrap: 'anywhere' }}>
                  <code>{x}</code>
                  <div class="quiet small">
                    {say('ops.key.id')} <code>{kid}</code>
                  </div>
                </li>
              ))}
            </ul>
          )}
        </Shown>
        <p class="small">
          <code>GET /.well-known/audit-keys</code>
        </p>
      </section>
    </>
  );
}

/** Returns the screen of one verification. */
export function OpsVerification() {
  const id = useRoute().params.job ?? '';
  return (
    <>
      <p>
        <a href={PATH}>{say('audit.verifications')}</a>
      </p>
      <Head title={say('audit.verification')} about={<code>{id}</code>} />
      <VerificationView id={id} eventPath={() => undefined} />
    </>
  );
}
