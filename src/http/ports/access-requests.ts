/**
 * Defines the interfaces for access requests that routes and endpoints need; `src/sharing/access-requests.ts` implements them.
 */
import type { AccessRequestRow } from '#queries/consents/access-requests.ts';
import type { BackchannelRequest } from '#src/oauth/backchannel/request.ts';
import type { Asked, Polled } from '#src/oauth/backchannel/requests.ts';
import type { Client } from '#src/oauth/clients.ts';
import type { Issued } from '#src/oauth/tokens/issued.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import type { Identity, PersonId } from '#src/shared/access/identity.ts';
import type { OfferedRecord } from './authorize.ts';

/** An application's operations on access requests. */
export interface BackchannelEndpoints {
  /**
   * Stores a request.
   * @throws OAuthError with status 429 if there have been ten requests with the same hint within an hour
   */
  readonly ask: (client: Client, asked: BackchannelRequest) => Promise<Asked>;
  /** Returns `sub` from an ID token that this service issued to a client; undefined for any other text. */
  readonly readSubject: (clientId: string, idToken: string) => Promise<string | undefined>;
  /** Records a poll. Returns undefined if the `auth_req_id` is unknown or belongs to another application. */
  readonly poll: (authReqId: string, applicationId: string, requestId: string) => Promise<Polled | undefined>;
  /**
   * Issues the tokens for an approved request; works only once.
   * @param resources the resources to which the tokens are restricted; if empty, the resources in the request
   */
  readonly redeem: (
    id: string,
    client: Client,
    resources: readonly string[],
  ) => Promise<Issued | { readonly fault: 'used' | 'ended' | 'resource' }>;
}

/** A person's approval. */
export interface ApprovalAsked {
  /** The request's id. */
  readonly id: string;
  readonly person: PersonId;
  readonly record: string;
  readonly grantedBy: 'patient' | 'representative';
  readonly days: number;
  /** The granted scopes, normalised: all of the requested scopes, or some of them. */
  readonly scopes: readonly string[];
  readonly lang: string;
  readonly sentences: readonly string[];
  readonly requestId: string;
  /** True if the request has an Idempotency-Key, so that repeating the same approval returns the same result. */
  readonly repeats: boolean;
}

/** People's operations on access requests. All of them throw `Refusal`. */
export interface AccessRequestServices {
  /** Returns a pending or ended request that a person may see; undefined for any other request. */
  readonly find: (person: Identity, id: string) => Promise<AccessRequestRow | undefined>;
  /** Returns the ids of a person's Patients, and whether all of them are the person's own. */
  readonly recordsOf: (
    person: Identity,
    environment: Environment,
  ) => Promise<{ readonly ids: readonly string[]; readonly own: boolean }>;
  /**
   * Returns the application that made a request, with the records to which it can get access; undefined if it is no longer
   * allowed to ask.
   */
  readonly offer: (
    person: Identity,
    request: AccessRequestRow,
  ) => Promise<{ readonly client: Client; readonly records: readonly OfferedRecord[] } | undefined>;
  /**
   * Writes the grant. If there are concurrent approvals and denials, the first one takes effect.
   * @returns the grant's id
   * @throws Refusal conflict if the request isn't pending; not_found or conflict as `Consents.grant` does
   */
  readonly approve: (asked: ApprovalAsked) => Promise<string>;
  /**
   * Denies a request.
   * @throws Refusal conflict if it isn't pending
   */
  readonly deny: (id: string, person: PersonId, requestId: string) => Promise<void>;
  /**
   * Hides an application's future requests from a person.
   * @throws Refusal not_found for an unknown application
   */
  readonly mute: (person: PersonId, applicationId: string) => Promise<void>;
  /** Shows a person an application's future requests again. */
  readonly unmute: (person: PersonId, applicationId: string) => Promise<void>;
  /** Completes approvals that were interrupted by a crash and that no poll has completed since. */
  readonly resume: () => Promise<void>;
}
