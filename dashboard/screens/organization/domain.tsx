/** The organization's domain, which the consent page shows. It is confirmed by an owner's verified address. */
import { useState } from 'preact/hooks';
import { annal } from '../../api.ts';
import { useProject } from '../../here.ts';
import { useAct } from '../../load.ts';
import { Badge, Button, Confirm, Problem } from '../../parts/parts.tsx';
import { account, includesRole, loadAccount } from '../../session.ts';
import { say } from '../../texts/texts.ts';

/** Returns the part. */
export function Domain() {
  const { organization, role } = useProject();
  const { confirmed_domain: confirmed } = organization;
  const [isAsked, ask] = useState(false);
  const confirming = useAct(async () => {
    await annal.post('/admin/organizations/{org_id}/verify', { org_id: organization.id });
    await loadAccount();
    return true;
  });
  const own = account.value?.installation.identity.email?.split('@')[1]?.toLowerCase();
  const confirm = async (): Promise<void> => {
    await confirming.run(undefined);
    ask(false);
  };
  return (
    <section class="panel">
      <h2>{say('domain.title')}</h2>
      <p>
        {confirmed === null ? (
          <Badge tone="warn">{say('domain.none')}</Badge>
        ) : (
          <Badge tone="good">{say('home.confirmed', { domain: confirmed })}</Badge>
        )}
      </p>
      <p>{say('domain.says')}</p>
      <p class="quiet">{say('domain.how')}</p>
      {!includesRole(role, 'owner') ? (
        <p class="note">{say('domain.notYours')}</p>
      ) : own === undefined || own === confirmed ? null : (
        <p>
          <Button
            busy={confirming.isRunning}
            onClick={() => (confirmed === null ? void confirm() : ask(true))}
          >
            {say('domain.confirm', { domain: own })}
          </Button>
        </p>
      )}
      <Problem failure={confirming.failure} />
      {isAsked && own !== undefined ? (
        <Confirm
          title={say('domain.confirm', { domain: own })}
          says={<p>{say('domain.replaces', { domain: confirmed ?? '' })}</p>}
          act={say('domain.confirm', { domain: own })}
          busy={confirming.isRunning}
          failure={confirming.failure}
          onClose={() => ask(false)}
          onConfirm={() => void confirm()}
        />
      ) : null}
    </section>
  );
}
