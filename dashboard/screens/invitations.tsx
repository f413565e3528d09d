/**
 * Inviting members by e-mail address: creating, listing and withdrawing invitations, and accepting them on the first screen.
 */
import { useState } from 'preact/hooks';
import { type Api, annal } from '../api.ts';
import { useProject } from '../here.ts';
import { useAct, useLoaded } from '../load.ts';
import { Ago, Badge, Button, Code, Dialog, Field, Problem, Shown, Table } from '../parts/parts.tsx';
import { loadAccount } from '../session.ts';
import { say, sayDay } from '../texts/texts.ts';
import { RoleField, readRole } from './role-field.tsx';

const INVITATIONS = '/admin/organizations/{org_id}/invitations';

type Invitation = Api.MemberInvitation;

const TONES = {
  pending: 'warn',
  accepted: 'good',
  withdrawn: 'plain',
  replaced: 'plain',
  expired: 'plain',
} as const;

/** The organization's newest invitations; nothing if there are none. */
export function Invitations({ mayChange }: { readonly mayChange: boolean }) {
  const { organization } = useProject();
  const of = { org_id: organization.id };
  const invitations = useLoaded(
    (signal) => annal.get(INVITATIONS, { ...of, limit: 50 }, { signal }),
    [organization.id],
  );
  const withdrawing = useAct(async ({ id }: Invitation) => {
    await annal.delete(`${INVITATIONS}/{invitation_id}`, { ...of, invitation_id: id });
    await invitations.reload();
    return true;
  });
  return (
    <Shown of={invitations}>
      {({ data }) =>
        data.length === 0 ? null : (
          <section>
            <h2>{say('invitations.title')}</h2>
            <Problem failure={withdrawing.failure} />
            <Table
              label={say('invitations.title')}
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { title: say('members.email'), cell: ({ email }) => email },
                { title: say('members.role'), cell: ({ role }) => say(`members.role.${role}`) },
                {
                  title: say('invitations.status'),
                  cell: ({ status }) => <Badge tone={TONES[status]}>{say(`invitations.${status}`)}</Badge>,
                },
                { title: say('invitations.by'), isWide: true, cell: ({ invited_by }) => invited_by },
                { title: say('created'), isWide: true, cell: ({ created_at }) => <Ago at={created_at} /> },
                {
                  title: say('actions'),
                  cell: (invitation) =>
                    mayChange && invitation.status === 'pending' ? (
                      <Button
                        tone="danger"
                        busy={withdrawing.isRunning}
                        aria-label={say('invitations.withdraw.of', { email: invitation.email })}
                        onClick={() => void withdrawing.run(invitation)}
                      >
                        {say('invitations.withdraw')}
                      </Button>
                    ) : null,
                },
              ]}
            />
          </section>
        )
      }
    </Shown>
  );
}

/** The form that invites a person; afterwards it shows the link to pass on. */
export function Invite({ onClose }: { readonly onClose: () => void }) {
  const { organization, role } = useProject();
  const [made, setMade] = useState<Invitation>();
  const inviting = useAct((form: FormData) =>
    annal.post(INVITATIONS, {
      org_id: organization.id,
      body: { email: String(form.get('email')), role: readRole(form) },
    }),
  );
  return (
    <Dialog title={say('members.invite')} onClose={onClose}>
      {made === undefined ? (
        <form
          onSubmit={async (event) => {
            event.preventDefault();
            setMade(await inviting.run(new FormData(event.currentTarget)));
          }}
        >
          <p>{say('invitations.says')}</p>
          <Field name="email" label={say('members.email')} failure={inviting.failure}>
            {(attributes) => <input {...attributes} type="email" required autocomplete="off" />}
          </Field>
          <RoleField own={role} failure={inviting.failure} />
          <Problem failure={inviting.failure} />
          <footer>
            <Button onClick={onClose}>{say('cancel')}</Button>
            <Button type="submit" tone="primary" busy={inviting.isRunning}>
              {say('members.invite')}
            </Button>
          </footer>
        </form>
      ) : (
        <>
          <p>{say('invitations.made', { email: made.email, day: sayDay(made.expires_at) })}</p>
          <Code text={made.url} label={say('invitations.address')} />
          <footer>
            <Button tone="primary" onClick={onClose}>
              {say('invitations.done')}
            </Button>
          </footer>
        </>
      )}
    </Dialog>
  );
}

/**
 * The person's pending invitations, on the first screen.
 * @param onLoaded receives the number of pending invitations
 */
export function MyInvitations({ onLoaded }: { readonly onLoaded: (count: number) => void }) {
  const invitations = useLoaded(async (signal) => {
    const found = await annal.get('/admin/invitations', {}, { signal });
    onLoaded(found.data.length);
    return found;
  }, []);
  const accepting = useAct(async (invitation_id: string) => {
    await annal.post('/admin/invitations/{invitation_id}/accept', { invitation_id });
    await Promise.all([loadAccount(), invitations.reload()]);
    return true;
  });
  return (
    <>
      <Problem failure={accepting.failure} />
      {(invitations.value?.data ?? []).map((each) => (
        <section key={each.id} class="panel">
          <header class="head">
            <div>
              <h2>{say('invitations.to', { organization: each.organization_name })}</h2>
              <p>
                {say('invitations.to.says', {
                  person: each.invited_by,
                  role: say(`members.role.${each.role}`),
                })}{' '}
                {say(`members.may.${each.role}`)}
              </p>
            </div>
            <Button
              tone="primary"
              busy={accepting.isRunning}
              aria-label={say('invitations.accept.of', { organization: each.organization_name })}
              onClick={() => void accepting.run(each.id)}
            >
              {say('invitations.accept')}
            </Button>
          </header>
        </section>
      ))}
    </>
  );
}
