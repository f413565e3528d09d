/** The access log's entry about a read: who, what kind, which resource, which outcome; never a value of the record. */

import type { GivenReceipt } from './receipt.ts';

/** The reader (docs/spec/decisions.md, section 4, "Access-log entry"). */
export type AccessActor =
  /** An application: under a grant, or of the owner's project with its own token (null). */
  | { readonly kind: 'application'; readonly id: string; readonly grantId: string | null }
  /** An API key of the owner's project. */
  | { readonly kind: 'key'; readonly id: string }
  /** Somebody who has a shared link, with the name that they gave. */
  | { readonly kind: 'link'; readonly id: string; readonly recipient: string }
  /** A person who signed in: the patient, a representative, or a member of the owner's project. */
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

/** A read of one record, or an attempt at one. */
export interface AccessEntry {
  /** The record: the real id of its Patient. */
  readonly record: string;
  /** The interaction or operation, for example `read` or `search-type`. */
  readonly action: string;
  readonly actor: AccessActor;
  /** The type that was asked for; null if the read isn't of one type. */
  readonly resourceType: string | null;
  /** The id that was asked for: the real one of a Patient; null if the read isn't of one resource. */
  readonly resourceId: string | null;
  /** The purpose that the grant states, or why a member read a record of production; null without one. */
  readonly purpose: string | null;
  readonly status: AccessStatus;
  /** Resources of the record that the answer shows; null if it was streamed. */
  readonly count: number | null;
  readonly requestId: string;
  /** The receipt of the answer, which is written with the entry; or the id of one that was written before. */
  readonly receipt?: GivenReceipt | string;
}
