/** Invitations to organizations: all invitations from an organization, and all invitations to a person's address. */
import type { Pool } from 'pg';
import type { Role } from '#src/shared/access/member.ts';
import { type Page, type PageAsked, readPage } from './page.ts';

/** An invitation; times are microseconds since 1970. */
export interface InvitationRow {
  readonly id: string;
  readonly organization: string;
  readonly organization_name: string;
  readonly email: string;
  readonly role: Role;
  /** The e-mail address of the member who sent the invitation, or their `sub`. */
  readonly invited_by: string;
  readonly created_at: number;
  readonly expires_at: number;
  readonly ended_at: number | null;
  /** accepted, withdrawn or replaced; null while it is pending, and if it has expired. */
  readonly end_reason: string | null;
}

/** Queries about invitations. */
export interface InvitationQueries {
  readonly invitationsOf: (organization: string, asked: PageAsked) => Promise<Page<InvitationRow>>;
  /** Finds an invitation by its id, regardless of who was invited. */
  readonly invitation: (id: string) => Promise<InvitationRow | undefined>;
  /** Returns the pending invitations to a lower-case address, newest first. */
  readonly invitationsFor: (email: string, now: number) => Promise<readonly InvitationRow[]>;
}

const INVITATION = `select i.id, i.organization, o.name as organization_name, i.email, i.role,
    coalesce(m.email, i.by_subject) as invited_by, i.created_at, i.expires_at, i.ended_at, i.end_reason
  from projects.member_invitation i
  join projects.organization o on o.id = i.organization
  left join projects.member m on (m.organization, m.issuer, m.subject) = (i.organization, i.by_issuer, i.by_subject)`;

/** Creates the queries. */
export function openInvitations(pool: Pool): InvitationQueries {
  return {
    invitationsOf: (organization, asked) =>
      readPage(
        pool,
        {
          name: 'member-invitations',
          rows: `${INVITATION} where i.organization = $1`,
          values: [organization],
        },
        asked,
      ),
    async invitation(id) {
      const text = `${INVITATION} where i.id = $1`;
      const { rows } = await pool.query<InvitationRow>({ name: 'member-invitation', text, values: [id] });
      return rows[0];
    },
    // Index: member_invitation_waiting. An address that everybody invites has as many as there are organizations.
    async invitationsFor(email, now) {
      const { rows } = await pool.query<InvitationRow>({
        name: 'member-invitations-for',
        text: `${INVITATION} where i.email = $1 and i.ended_at is null and i.expires_at > $2
          order by i.created_at desc, i.id desc limit 100`,
        values: [email, now],
      });
      return rows;
    },
  };
}
