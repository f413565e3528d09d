/** A record's invitations, read from their rows in `operations` (`src/operations/invitations.ts`). */
import type { Pool } from 'pg';
import type { InvitationStatus } from '#src/shared/access/invitation.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { type Page, type PageAsked, readPage } from '../admin/page.ts';

/** An invitation, without its code. */
export interface InvitationRow {
  readonly id: string;
  readonly relationship: 'self' | 'dependent';
  readonly email: string | null;
  readonly created_at: Micros;
  readonly expires_at: Micros;
  readonly status: InvitationStatus;
}

/** Queries about invitations. */
export interface InvitationQueries {
  /**
   * Reads a record's invitations, newest first, including ended invitations.
   * @throws Refusal invalid (422) for a cursor from a different list
   */
  readonly listInvitations: (record: string, asked: PageAsked) => Promise<Page<InvitationRow>>;
}

const micros = (column: string): string => `(extract(epoch from ${column}) * 1000000)::int8`;

/** Opens the question. */
export function openInvitations(pool: Pool): InvitationQueries {
  return {
    // Index: operations.invitation_of_record.
    listInvitations: (record, asked) =>
      readPage<InvitationRow>(
        pool,
        {
          name: 'invitations-of-record',
          rows: `select i.id, i.relationship, i.email, ${micros('i.created_at')} as created_at,
              ${micros('i.expires_at')} as expires_at, i.status
            from operations.invitation_now i where i.record = $1::uuid`,
          values: [record],
        },
        asked,
      ),
  };
}
