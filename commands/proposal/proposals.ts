/**
 * The write side of proposals as the rest of the service sees it: changes that an application suggests and a person decides on
 * (docs/spec/decisions.md, section 7).
 */
import type { ResourceType } from '#src/fhir/types.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import type { CommandContext, Done, RequestContext, SubmittedResource } from '../command.ts';
import type { Relationship } from '../consent/consents.ts';

/** A change that an application proposes. */
export type NewProposal = {
  readonly type: ResourceType;
  /** The whole resource as it would be after the change; for an update, including its id. */
  readonly resource: SubmittedResource;
  /** The application's reason, or null. */
  readonly rationale: string | null;
} & (
  | { readonly operation: 'create' }
  | {
      readonly operation: 'update';
      readonly id: string;
      /** The version that the proposal changes. */
      readonly baseVersion: number;
    }
);

/** A proposal on a record. */
export interface ProposalRef {
  /** The id of the record's Patient. */
  readonly record: string;
  readonly proposalId: string;
}

/** A person who decides, and their link to the record. */
export interface Approver extends PersonId {
  readonly relationship: Relationship;
}

/** The version that resulted from an accepted proposal. */
export interface AcceptedVersion {
  readonly type: string;
  readonly id: string;
  readonly version: number;
}

/** The commands. All throw `Refusal`. */
export interface Proposals {
  /**
   * Makes a proposal under a grant. It is checked like the write that it proposes.
   * @param ctx the context of a caller under a grant
   * @throws Refusal in the same cases as the write; conflict (409) if `baseVersion` isn't the current version, or if 100
   *   proposals
   * are pending under the grant; unauthenticated if the grant has ended
   */
  readonly propose: (
    ctx: CommandContext,
    proposal: NewProposal,
  ) => Promise<Done<{ readonly proposalId: string }>>;
  /**
   * Withdraws a pending proposal; does nothing if it is already withdrawn.
   * @throws Refusal not_found, conflict
   */
  readonly withdraw: (by: RequestContext, proposal: ProposalRef) => Promise<Done>;
  /**
   * Writes a proposal's resource, with the application's author as its author and the person as its approver, and ends the
   * proposal, in one append. The write is checked like a write by the application under its grant.
   * @throws Refusal not_found for a person who isn't linked to the record, or an unknown proposal; conflict (409) if the
   * proposal has ended, its base version is no longer current, its grant has ended, or it can no longer be written
   */
  readonly accept: (
    by: RequestContext,
    proposal: ProposalRef,
    person: Approver,
  ) => Promise<Done<AcceptedVersion>>;
  /**
   * Rejects a pending proposal.
   * @param note the person's own note, at most 1,000 characters; applications never receive it
   * @throws Refusal not_found or conflict in the same cases as `accept`
   */
  readonly reject: (
    by: RequestContext,
    proposal: ProposalRef,
    person: PersonId,
    note?: string,
  ) => Promise<Done>;
  /** Writes the end of a proposal that can no longer be accepted; does nothing if it can still be accepted or has ended. */
  readonly lapse: (by: RequestContext, proposal: ProposalRef) => Promise<Done>;
}
