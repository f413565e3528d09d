/**
 * The interfaces of access requests that routes and endpoints need; `src/sharing/access-requests.ts` implements it.
 */
import type { AccessRequestRow } from '#queries/consents/access-requests.ts';
import type { BackchannelRequest } from '#src/oauth/backchannel/request.ts';
import type { Asked, Polled } from '#src/oauth/backchannel/requests.ts';
import type { Client } from '#src/oauth/clients.ts';
import type { Issued } from '#src/oauth/tokens/issued.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import type { Identity, PersonId } from '#src/shared/access/identity.ts';
import type { OfferedRecord } from './authorize.ts';

/** The operations of an application on access requests. */
export interface BackchannelEndpoints {
  /** Keeps a request. @throws OAuthError with status 429 after ten with the same hint in an hour */
  readonly ask: (client: Client, asked: BackchannelRequest) => Promise<Asked>;
  /** Returns `sub` of an ID token that this service issued to a client; undefined for any other text. */
  readonly readSubject: (clientId: string, idToken: string) => Promise<string | undefined>;
  /** Notes a poll; undefined for an unknown `auth_req_id`, or another application's. */
  readonly poll: (authReqId: string, applicationId: string, requestId: string) => Promise<Polled | undefined>;
  /**
   * Issues the tokens of an approved request, once.
   * @param resources to narrow them to; empty: those of the request
   */
  readonly redeem: (
    id: string,
    client: Client,
    resources: readonly string[],
  ) => Promise<Issued | { readonly fault: 'used' | 'ended' | 'resource' }>;
}

/** An approval by a person. */
export interface ApprovalAsked {
  /** The request's id. */
  readonly id: string;
  readonly person: PersonId;
  readonly record: string;
  readonly grantedBy: 'patient' | 'representative';
  readonly days: number;
  /** The granted scopes, normalised: all or some of the requested ones. */
  readonly scopes: readonly string[];
  readonly lang: string;
  readonly sentences: readonly string[];
  readonly requestId: string;
  /** The request has an Idempotency-Key: the same approval again answers as the first did. */
  readonly repeats: boolean;
}

/** The operations of people on access requests. All throw `Refusal`. */
export interface AccessRequestServices {
  /** Returns a pending or ended request that a person may see; undefined for any other. */
  readonly find: (person: Identity, id: string) => Promise<AccessRequestRow | undefined>;
  /** Returns the ids of the Patients that a person has, and whether all are their own. */
  readonly recordsOf: (
    person: Identity,
    environment: Environment,
  ) => Promise<{ readonly ids: readonly string[]; readonly own: boolean }>;
  /** Returns the application of a request with the records that it can get; undefined if it may no longer ask. */
  readonly offer: (
    person: Identity,
    request: AccessRequestRow,
  ) => Promise<{ readonly client: Client; readonly records: readonly OfferedRecord[] } | undefined>;
  /**
   * Writes the grant; of parallel approvals and denials the first counts.
   * @returns the id of the grant
   * @throws Refusal conflict if the request isn't pending; not_found, conflict as `Consents.grant`
   */
  readonly approve: (asked: ApprovalAsked) => Promise<string>;
  /** Denies a request. @throws Refusal conflict if it isn't pending */
  readonly deny: (id: string, person: PersonId, requestId: string) => Promise<void>;
  /** Hides an application's later requests from a person. @throws Refusal not_found for an unknown application */
  readonly mute: (person: PersonId, applicationId: string) => Promise<void>;
  /** Shows a person the requests that the application makes from now on. */
  readonly unmute: (person: PersonId, applicationId: string) => Promise<void>;
  /** Carries out approvals that a crash interrupted and that no poll has met since. */
  readonly resume: () => Promise<void>;
}
