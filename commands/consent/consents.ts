/** Consent on the write side, as the rest of the service sees it: who is linked to a record, and who may read it. */
import type { EventOf } from '#src/events/streams.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import type { Identity, PersonId } from '#src/shared/access/identity.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { Done, RequestContext } from '../command.ts';

type DataOf<T extends EventOf<'record'>['type']> = Extract<
  EventOf<'record'>,
  { type: T; data: unknown }
>['data'];

/** How a person is related to the patient of a record. */
export type Relationship = DataOf<'RecordLinked'>['relationship'];
/** The origin of a link. */
export type LinkedVia = DataOf<'RecordLinked'>['via'];
/** Who ended a link. */
export type UnlinkReason = DataOf<'RecordUnlinked'>['reason'];
/** The reason why a grant ended early. */
export type RevokeReason = DataOf<'ConsentRevoked'>['reason'];
/** The reason why a shared link ended. */
export type SharedLinkEndReason = DataOf<'SharedLinkEnded'>['reason'];
/** The role in which a person gave a grant. */
export type GrantedBy = DataOf<'ConsentGranted'>['granted_by'];

/** The durations that a person can choose, in days (docs/spec/interface.md, section 8). */
export const GRANT_DAYS = [30, 90, 180, 365] as const;

/** An application that is given access. */
export interface GrantedApplication {
  readonly id: string;
  readonly project: string;
  readonly environment: Environment;
  /** The sector as registered; the application's id if no sector was registered. */
  readonly sector: string;
}

/** A grant that a person gives. */
export interface NewGrant {
  /** The id of the record's Patient. */
  readonly record: string;
  readonly person: PersonId;
  readonly application: GrantedApplication;
  /** In SMART v2 form, sorted. */
  readonly scopes: readonly string[];
  readonly purpose: string | null;
  /** One of `GRANT_DAYS`. */
  readonly days: number;
  readonly grantedBy: GrantedBy;
  /** Language of the page. */
  readonly lang: string;
  /** The sentences that the person read, in that language. */
  readonly sentences: readonly string[];
}

/** A grant as the read model identifies it. */
export interface GrantRef {
  readonly grantId: string;
  readonly record: string;
  readonly applicationId: string;
  readonly person: PersonId;
}

/** A link as the read model identifies it. */
export interface LinkRef {
  readonly linkId: string;
  readonly person: PersonId;
  readonly relationship: Relationship;
}

/** The data about a new grant that its application receives. */
export interface Granted {
  readonly grantId: string;
  /** The Patient's pairwise id. */
  readonly patient: string;
  /** The person's pairwise `sub`. */
  readonly subject: string;
  /** FHIR instant. */
  readonly expiresAt: string;
}

/** A shared link to be created. */
export interface NewSharedLink {
  readonly linkId: string;
  /** The id of the record's Patient. */
  readonly record: string;
  readonly person: PersonId;
  readonly label: string | null;
  readonly content: string;
  readonly longTerm: boolean;
  readonly passcode: boolean;
  readonly expiresAt: Micros;
}

/** The content of a personal record's first Patient. */
export interface PersonalDetails {
  readonly given: string;
  readonly family: string;
  /** `YYYY-MM-DD`. */
  readonly birth_date: string;
}

/** The commands. All throw `Refusal`. */
export interface Consents {
  /**
   * Lets an application use a record until a given time. An active grant for the same application, person and record is
   * replaced in the same append; its tokens stop working. The same ids in `by` yield the same grant, so repeating the call
   * writes nothing.
   * @throws Refusal not_found for a missing or purged record, a record in another environment, or a person who isn't linked to
   * the record; conflict while the record's Patient is deleted or after its purge was requested
   */
  readonly grant: (by: RequestContext, asked: NewGrant) => Promise<Done<Granted>>;
  /**
   * Ends a grant; does nothing if it has already ended. Works even while the Patient is deleted.
   * @param note the person's own note, at most 1,000 characters; webhooks never contain it
   * @throws Refusal not_found if the record has no such grant
   */
  readonly revoke: (
    by: RequestContext,
    grant: GrantRef,
    reason: RevokeReason,
    note?: string,
  ) => Promise<Done>;
  /** Writes `ConsentExpired` for a grant that has expired; does nothing if it hasn't expired yet or has already ended. */
  readonly expire: (by: RequestContext, grant: GrantRef) => Promise<Done>;
  /**
   * Links a person to a record; an existing link keeps its id.
   * @throws Refusal not_found for a missing record; conflict if another person is `self`, or while the Patient is deleted
   */
  readonly link: (
    by: RequestContext,
    record: string,
    person: PersonId,
    relationship: Relationship,
    via: LinkedVia,
  ) => Promise<Done<{ readonly linkId: string }>>;
  /**
   * Ends a link and, in the same append, the person's grants and shared links on the record.
   * @throws Refusal not_found
   */
  readonly unlink: (by: RequestContext, record: string, link: LinkRef, reason: UnlinkReason) => Promise<Done>;
  /**
   * Creates a shared link under an id that was generated in advance: repeating the call with the same id writes nothing.
   * @throws Refusal not_found for a missing or purged record, or a person who isn't linked to it; conflict while its Patient
   * is deleted, while it is being purged, or if the record already has 100 active links
   */
  readonly share: (by: RequestContext, asked: NewSharedLink) => Promise<Done>;
  /**
   * Ends a shared link; does nothing if it has already ended. Works even while the Patient is deleted.
   * @throws Refusal not_found if the record has no such link
   */
  readonly endSharedLink: (
    by: RequestContext,
    record: string,
    linkId: string,
    reason: SharedLinkEndReason,
  ) => Promise<Done>;
  /**
   * Starts a personal record in a separate project, or returns the personal record that the person already has. If several
   * requests run at the same time, the first one decides and the others get its result.
   */
  readonly startPersonalRecord: (
    by: RequestContext,
    person: PersonId,
    environment: Environment,
    details: PersonalDetails,
  ) => Promise<Done<{ readonly patient: string; readonly project: string }>>;
  /**
   * Links a person to a record using an invitation's code.
   * @param person with the verified e-mail address, which must match the invitation's
   * @param birthDate `YYYY-MM-DD`, compared with the Patient's
   * @throws Refusal not_found, the same for every code that can't be redeemed; invalid for a wrong birth date; conflict if
   *   another person is `self`; throttled after ten tries in an hour
   */
  readonly redeemInvitation: (
    by: RequestContext,
    person: Identity,
    code: string,
    birthDate: string,
  ) => Promise<Done<{ readonly linkId: string; readonly patient: string }>>;
  /** Returns the preview that the page shows before it links the person; undefined for a code that this person can't redeem. */
  readonly previewInvitation: (
    person: Identity,
    code: string,
  ) => Promise<{ readonly given: string; readonly project: string } | undefined>;
}
