/**
 * An entry in the access log about a read: who read, which kind of read, which resource, and the outcome, but never a value
 * from the record.
 */

import type { GivenReceipt } from './receipt.ts';

/** The reader (docs/spec/decisions.md, section 4, "Access-log entry"). */
export type AccessActor =
  /** An application under a grant, or an application in the owner's project with its own token (then `grantId` is null). */
  | { readonly kind: 'application'; readonly id: string; readonly grantId: string | null }
  /** An API key in the owner's project. */
  | { readonly kind: 'key'; readonly id: string }
  /** A recipient of a shared link, with the name that they gave. */
  | { readonly kind: 'link'; readonly id: string; readonly recipient: string }
  /** A person who is signed in: the patient, a representative, or a member of the owner's project. */
  | {
      readonly kind: 'person';
      readonly issuer: string;
      readonly subject: string;
      readonly role: 'self' | 'representative' | 'member';
    };

/** The outcomes of a read (docs/spec/decisions.md, section 9, "Access log"). */
export const ACCESS_STATUSES = ['ok', 'denied', 'not_found', 'error'] as const;

/** `ok`, `denied`, `not_found` or `error`. */
export type AccessStatus = (typeof ACCESS_STATUSES)[number];

/** A read of one record, or an attempt to read it. */
export interface AccessEntry {
  /** The record: the real id of its Patient. */
  readonly record: string;
  /** The interaction or operation, for example `read` or `search-type`. */
  readonly action: string;
  readonly actor: AccessActor;
  /** The requested type; null if the read isn't for one type. */
  readonly resourceType: string | null;
  /** The requested id (for a Patient, the real id); null if the read isn't for one resource. */
  readonly resourceId: string | null;
  /** The purpose that the grant states, or a member's reason for reading a production record; null if there is none. */
  readonly purpose: string | null;
  readonly status: AccessStatus;
  /** Number of the record's resources that the answer shows; null if the answer was streamed. */
  readonly count: number | null;
  readonly requestId: string;
  /** The answer's receipt, which is written together with the entry; or the id of a receipt that was written earlier. */
  readonly receipt?: GivenReceipt | string;
}
