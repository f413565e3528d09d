/** Reads proposals as they were made, and returns the command that carries out a proposal. */
import { understand } from '#src/events/codec.ts';
import type { EventMetadata } from '#src/events/metadata.ts';
import { isResourceType } from '#src/fhir/types.ts';
import { type Authorship, type Caller, type Tenant, tenantId } from '#src/shared/access/caller.ts';
import { readStored } from '#src/shared/json/json.ts';
import { notFound } from '#src/shared/refusal.ts';
import type { CommandContext, RequestContext } from '../command.ts';
import type { GrantedData } from '../consent/held.ts';
import type { Streams } from '../kernel/streams.ts';
import type { Resources } from '../resource/state.ts';
import type { ProposalDeps } from './deps.ts';
import { type MadeData, madeIn } from './held.ts';
import type { Suggested } from './planned.ts';

/** A proposal, including data from its event's metadata. */
export interface MadeProposal {
  readonly data: MadeData;
  readonly metadata: EventMetadata & { readonly hash?: string };
}

/**
 * Reads the event that made a proposal.
 * @throws TypeError if there is a different event at the revision
 * @throws Refusal not_found if the event is missing
 */
export async function madeAt(
  { kernel }: Streams<Resources>,
  stream: string,
  revision: number | undefined,
): Promise<MadeProposal> {
  if (revision !== undefined) {
    for await (const recorded of kernel.store.read(stream, { from: revision, limit: 1 })) {
      const { event, metadata } = understand(recorded);
      return { data: madeIn(event), metadata };
    }
  }
  throw notFound('proposal', stream);
}

/** The place where a proposal's resource is to be written, and the grant that allows it. */
export interface Home {
  readonly made: MadeProposal;
  readonly record: string;
  readonly owner: Tenant;
  /** The current grant. */
  readonly granted: GrantedData;
}

/** Returns the write that a proposal suggests, as a command from its application under the grant. */
export function suggestedBy(
  { parseAccess: accessOf }: Pick<ProposalDeps, 'parseAccess'>,
  { requestId, ids, now }: RequestContext,
  { made: { data, metadata }, record, owner, granted }: Home,
): { readonly ctx: CommandContext; readonly suggested: Suggested } {
  const { resource_type: type, resource_id: id, resource, application_id, project_id, environment } = data;
  if (!isResourceType(type)) throw new TypeError(`${type} is not a supported resource type`);
  const project = { project: project_id, environment };
  const caller: Caller = {
    calls: {
      project,
      projectId: tenantId(project),
      credential: { kind: 'grant', applicationId: application_id, grantId: data.grant_id },
      // The person who accepts the proposal may see the record.
      scopes: ['read', 'write'],
    },
    sees: {
      owner,
      ownerId: tenantId(owner),
      within: {
        record,
        patient: data.patient,
        access: accessOf(granted.scopes),
        purpose: granted.purpose,
      },
    },
  };
  return {
    ctx: { caller, authorship: authorshipIn(metadata), requestId, ids, now },
    suggested: { type, resource: readStored(resource), ...(id === undefined ? {} : { id }) },
  };
}

/** Returns the authorship in an event. Its people were looked up when the proposal was made. */
function authorshipIn(metadata: EventMetadata): Authorship {
  const { author, acting_as: actingAs, on_behalf_of: onBehalfOf, source_system, origin_id } = metadata;
  return {
    authorType: author?.type ?? 'import',
    inherited: true,
    ...(author?.reference === undefined ? {} : { authorRef: author.reference }),
    ...(author?.display === undefined ? {} : { authorName: author.display }),
    ...(actingAs === undefined ? {} : { actingAs }),
    ...(onBehalfOf === undefined
      ? {}
      : {
          onBehalfOf: {
            reference: onBehalfOf.reference,
            ...(onBehalfOf.display === undefined ? {} : { display: onBehalfOf.display }),
          },
        }),
    ...(source_system === undefined ? {} : { sourceSystem: source_system }),
    ...(origin_id === undefined ? {} : { originId: origin_id }),
  };
}
