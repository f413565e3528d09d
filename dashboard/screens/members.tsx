/** The organization's members. */
import { useState } from 'preact/hooks';
import { type AnswerOf, annal, filled } from '../api.ts';
import { useProject } from '../here.ts';
import { useAct, useLoaded } from '../load.ts';
import { Button, Confirm, Dialog, Field, Head, Problem, Shown, Table } from '../parts/parts.tsx';
import { account, includesRole, loadAccount } from '../session.ts';
import { say } from '../texts/texts.ts';
import { Invitations, Invite } from './invitations.tsx';
import { RoleField, readRole } from './role-field.tsx';

const MEMBERS = '/admin/organizations/{org_id}/members';

/** A member by name. */
type Member = AnswerOf<'GET', typeof MEMBERS>['data'][number];

/** Returns the screen. */
export function Members() {
  const here = useProject();
  const of = { org_id: here.organization.id };
  const [asked, ask] = useState<'add' | 'invite' | Member>();
  const [invited, setInvited] = useState(0);
  const members = useLoaded(() => annal.list(MEMBERS, { ...of, limit: 100 }).all(), [of.org_id]);
  const mayChange = includesRole(here.role, 'admin');
  const removing = useAct(async ({ issuer, subject }: Member) => {
    await annal.delete(MEMBERS, { ...of, issuer, subject });
    const { identity } = account.value?.installation ?? {};
    // Without the membership, the organization isn't the person's any more.
    if (issuer === identity?.issuer && subject === identity.subject) await loadAccount();
    else await members.reload();
    return true;
  });
  return (
    <>
      <Head
        title={say('members.title')}
        about={say('members.says', { organization: here.organization.name })}
      >
        {mayChange ? (
          <>
            <Button onClick={() => ask('add')}>{say('members.add')}</Button>
            <Button tone="primary" onClick={() => ask('invite')}>
              {say('members.invite')}
            </Button>
          </>
        ) : null}
      </Head>
      <Shown of={members}>
        {(all) => (
          <Table
            label={say('members.title')}
            rows={all}
            keyOf={({ issuer, subject }) => `${issuer} ${subject}`}
            columns={[
              { title: say('members.person'), cell: ({ email, subject }) => email ?? subject },
              { title: say('members.role'), cell: ({ role }) => say(`members.role.${role}`) },
              { title: say('members.issuer'), isWide: true, cell: ({ issuer }) => <code>{issuer}</code> },
              {
                title: say('actions'),
                cell: (member) =>
                  mayChange ? (
                    <Button
                      tone="danger"
                      aria-label={say('members.remove.of', { person: personOf(member) })}
                      onClick={() => ask(member)}
                    >
                      {say('members.remove')}
                    </Button>
                  ) : null,
              },
            ]}
          />
        )}
      </Shown>
      <Invitations key={invited} mayChange={mayChange} />
      {asked === 'invite' ? (
        <Invite
          onClose={() => {
            ask(undefined);
            setInvited(invited + 1);
          }}
        />
      ) : null}
      {asked === 'add' ? (
        <Add
          onClose={() => ask(undefined)}
          onDone={() => {
            ask(undefined);
            void members.reload();
          }}
        />
      ) : null}
      {typeof asked === 'object' ? (
        <Confirm
          title={say('members.remove.of', { person: personOf(asked) })}
          says={<p>{say('members.remove.says')}</p>}
          act={say('members.remove')}
          busy={removing.isRunning}
          failure={removing.failure}
          onClose={() => {
            removing.reset();
            ask(undefined);
          }}
          onConfirm={async () => {
            if ((await removing.run(asked)) === true) ask(undefined);
          }}
        />
      ) : null}
    </>
  );
}

function personOf({ email, subject }: Member): string {
  return email ?? subject;
}

function Add({ onClose, onDone }: { readonly onClose: () => void; readonly onDone: () => void }) {
  const here = useProject();
  const adding = useAct((form: FormData) =>
    annal.post(MEMBERS, {
      org_id: here.organization.id,
      body: {
        issuer: String(form.get('issuer')),
        subject: String(form.get('subject')),
        role: readRole(form),
        ...filled({ email: String(form.get('email')) }),
      },
    }),
  );
  const { identity } = account.value?.installation ?? {};
  return (
    <Dialog title={say('members.add')} onClose={onClose}>
      <p>{say('members.add.says')}</p>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if ((await adding.run(new FormData(event.currentTarget))) !== undefined) onDone();
        }}
      >
        <Field name="issuer" label={say('members.issuer')} failure={adding.failure}>
          {(attributes) => <input {...attributes} required defaultValue={identity?.issuer} />}
        </Field>
        <Field
          name="subject"
          label={say('members.subject')}
          hint={say('members.subject.hint')}
          failure={adding.failure}
        >
          {(attributes) => <input {...attributes} required autocomplete="off" />}
        </Field>
        <Field name="email" label={say('members.email')} failure={adding.failure}>
          {(attributes) => <input {...attributes} type="email" autocomplete="off" />}
        </Field>
        <RoleField own={here.role} failure={adding.failure} />
        <Problem failure={adding.failure} />
        <footer>
          <Button onClick={onClose}>{say('cancel')}</Button>
          <Button type="submit" tone="primary" busy={adding.isRunning}>
            {say('members.add')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
