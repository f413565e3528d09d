/**
 * Defines the interfaces that the authorization endpoint and the consent page need; `src/sharing/authorize.ts` implements
 * them.
 */

import type { RequestContext } from '#commands/command.ts';
import type { Granted, NewGrant, PersonalDetails } from '#commands/consent/consents.ts';
import type { MyPatient } from '#queries/consents/records.ts';
import type { PendingRequests } from '#src/oauth/authorization/pending.ts';
import type { RequestingClient } from '#src/oauth/authorization/request.ts';
import type { NewCode } from '#src/oauth/tokens/codes.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import type { Identity, PersonId } from '#src/shared/access/identity.ts';

/** An application in the form that the page shows. */
export interface AskingClient extends RequestingClient {
  readonly applicationId: string;
  readonly project: string;
  readonly environment: Environment;
  readonly organization: { readonly name: string; readonly domain: string | undefined };
  readonly kind: 'public' | 'confidential';
  readonly name: string;
  readonly sector: string;
  readonly privacyUrl: string | undefined;
  readonly branding: { readonly logo: { readonly sha256: string } | undefined };
}

/** A record that a person can choose on the consent page. */
export interface OfferedRecord extends MyPatient {
  /** True if the application named this record by the id under which the application knows the patient. */
  readonly isMeant: boolean;
}

/** A grant that is already active. */
export interface ActiveGrant {
  readonly grantId: string;
  readonly record: string;
  readonly scopes: readonly string[];
}

/** The services for the authorization endpoint. All functions throw `Refusal`. */
export interface AuthorizeServices {
  /** Returns a client; undefined if the application is unknown or deleted. */
  readonly findClient: (clientId: string) => Promise<AskingClient | undefined>;
  /** Clients identified by the URL of their metadata document. Both functions throw `PageFault`. */
  readonly guests: {
    /** Returns the client as described in its metadata document, which is fetched if necessary. */
    readonly admit: (clientId: string) => Promise<AskingClient>;
    /** Checks a URL without fetching it. */
    readonly check: (clientId: string) => Promise<void>;
  };
  readonly pending: Pick<
    PendingRequests,
    'save' | 'open' | 'find' | 'decide' | 'conclude' | 'answered' | 'reopen'
  >;
  /**
   * Returns the records that a person can let an application use. The person's own records come first.
   * @param patient the pairwise id named by the application
   */
  readonly recordsFor: (
    person: Identity,
    client: AskingClient,
    patient: string | undefined,
  ) => Promise<readonly OfferedRecord[]>;
  /** Returns the active grants that a person has given to an application. */
  readonly grantsTo: (client: AskingClient, person: PersonId) => Promise<readonly ActiveGrant[]>;
  /**
   * Creates an empty record for the person.
   * @returns its Patient's id
   */
  readonly startRecord: (
    by: RequestContext,
    person: PersonId,
    environment: Environment,
    details: PersonalDetails,
  ) => Promise<string>;
  /** Creates a grant. Every later read takes the returned grant into account. */
  readonly grant: (by: RequestContext, asked: NewGrant) => Promise<Granted>;
  /** Issues a code for a grant; undefined if the grant has ended. */
  readonly issueCode: (asked: NewCode) => Promise<string | undefined>;
}
