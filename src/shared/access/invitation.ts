/** Invitations to link a person to a record, in the form in which they are stored (docs/spec/decisions.md, section 9). */

import type { Micros } from '../time/time.ts';
import type { Environment } from './caller.ts';

/** The states of an invitation. */
export const INVITATION_STATUSES = ['pending', 'redeemed', 'withdrawn', 'expired', 'closed'] as const;
/** A state. `closed` means that there were five wrong birth dates. */
export type InvitationStatus = (typeof INVITATION_STATUSES)[number];

export interface NewInvitation {
  readonly id: string;
  /** SHA-256 of the code. */
  readonly sha256: Buffer;
  readonly project: string;
  readonly environment: Environment;
  /** The id of the record's Patient. */
  readonly record: string;
  readonly relationship: 'self' | 'dependent';
  /** The address that the person must have, in lower case; null if any address is allowed. */
  readonly email: string | null;
  readonly days: number;
}

/** An invitation in its current state. */
export interface Invitation extends Omit<NewInvitation, 'sha256' | 'days'> {
  readonly created_at: Micros;
  readonly expires_at: Micros;
  readonly status: InvitationStatus;
}
