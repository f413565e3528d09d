/** Formats proposals for the JSON interfaces (docs/spec/decisions.md, section 7). */
import { z } from 'zod';
import { PROPOSAL_STATUSES, type ProposalRow } from '#queries/consents/proposals.ts';
import { withHeldContents } from '#src/fhir/document-content.ts';
import { type ShownVersion, shownVersion, withLeftOut } from '#src/fhir/references/left-out.ts';
import { withoutVersion } from '#src/fhir/without-version.ts';
import { isAiLabelled, withoutAiLabel } from '#src/shared/access/ai-label.ts';
import { AUTHOR_TYPES } from '#src/shared/access/author.ts';
import { type Json, type JsonObject, parseStored, printJson } from '#src/shared/json/json.ts';
import { type Difference, differences } from '#src/shared/json/json-difference.ts';
import { without } from '#src/shared/json/json-value.ts';
import { toInstant } from '#src/shared/time/time.ts';
import type { Services } from '../ports/services.ts';
import { applicationView } from './grant-view.ts';
import { grant, instant } from './schemas.ts';

/** A JSON value; FHIR elements are never null. */
const value = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.array(z.unknown()),
  z.record(z.string(), z.unknown()),
]);

/** One changed element. */
const difference = z.object({
  path: z
    .string()
    .describe(
      'The element, such as `dosage[0].text`. For a removed element: its place in the previous version.',
    ),
  before: value.optional().describe('Absent: the element is added.'),
  after: value.optional().describe('Absent: the element is removed.'),
});

export const proposalSchema = z
  .object({
    id: z.string(),
    patient: z.string(),
    status: z
      .enum(PROPOSAL_STATUSES)
      .describe(
        '`superseded`: the resource has a newer version. `expired`: the proposal’s time is over, or its grant has ended.',
      ),
    operation: z.enum(['create', 'update']),
    resource_type: z.string(),
    resource_id: z.string().nullable().describe('Null for a creation that was not accepted.'),
    current_version: z
      .int()
      .nullable()
      .describe('For an update: the version of the resource that the proposal changes. Null for a creation.'),
    resource: z.record(z.string(), z.unknown()).describe('The FHIR resource after the change.'),
    difference: z
      .array(difference)
      .nullable()
      .describe(
        'The changes from `current_version` to `resource`; for a creation, every element. Null if the grant does not let the application read that version.',
      ),
    author_type: z
      .enum(AUTHOR_TYPES)
      .describe('`ai`: a program made the values and nobody has verified them, even after acceptance.'),
    application: grant.shape.application,
    rationale: z.string().nullable().describe('The application’s reason. Show it as text.'),
    created_at: instant,
    expires_at: instant,
    decided_at: instant.nullable().describe('When it was accepted, rejected or withdrawn, or lapsed.'),
    version: z.int().nullable().describe('For an accepted proposal: the version that resulted from it.'),
    fhir: z.string().nullable().describe('For an accepted proposal: `<Type>/<id>`.'),
  })
  .meta({ id: 'Proposal' });

/**
 * The FHIR content of a proposal as its caller sees it: the proposed resource and, if the caller may see it, the version that
 * the proposal changes.
 */
export interface SeenProposal {
  readonly resource: JsonObject;
  readonly base: JsonObject | undefined;
}

/**
 * Returns the FHIR in a proposal. Reads label what an AI wrote, and an application may send the label back: as in the write, a
 * label that the stored version doesn't have is left out, and so is the id in a creation.
 */
export function proposalContent(
  row: Pick<ProposalRow, 'operation' | 'resource' | 'base' | 'base_by_ai'>,
): SeenProposal {
  const sent = parseStored(row.resource);
  const resource = row.operation === 'create' ? without(sent, 'id') : sent;
  if (row.base === null) return { resource, base: undefined };
  const base = parseStored(row.base);
  const isAdded = row.base_by_ai && !isAiLabelled(base);
  return { resource: isAdded ? withoutAiLabel(resource) : resource, base };
}

/** Returns a stored version as an application under a grant sees it. */
export function versionUnderGrant(
  { config, queries }: Pick<Services, 'config' | 'queries'>,
  record: string,
  stored: JsonObject,
): Promise<ShownVersion> {
  return shownVersion(stored, record, [`${config.baseUrl}/fhir/R4/`], queries.withinRecord);
}

/**
 * Returns the FHIR in a proposal as its acceptance writes it, for people, who see all of their own record. A write under a grant
 * keeps references that its application can't see, and what the service knows about stored bytes.
 */
export async function proposedVersion(
  services: Pick<Services, 'config' | 'queries'>,
  row: ProposalRow,
): Promise<SeenProposal> {
  const { resource, base } = proposalContent(row);
  const { record, resource_type: type, resource_id: id } = row;
  if (base === undefined || id === null) return { resource, base };
  const kept = withLeftOut(resource, await versionUnderGrant(services, record, base));
  return { resource: type === 'DocumentReference' ? withHeldContents(kept, base, id) : kept, base };
}

/** Returns a proposal's changes; null if its caller may not see the version that it changes. */
export function proposedChanges(
  { operation }: Pick<ProposalRow, 'operation'>,
  { resource, base }: SeenProposal,
): Difference[] | null {
  return operation === 'update' && base === undefined
    ? null
    : differences(base && withoutVersion(base), resource);
}

/** Returns a proposal in the form used by the interfaces, with numbers as they were sent. */
export function proposalView(row: ProposalRow, seen: SeenProposal): JsonObject {
  const { operation, resource_type, resource_id, status, version, ended_at } = row;
  const { resource } = seen;
  const changes = proposedChanges(row, seen)?.map((each): Json => ({ ...each })) ?? null;
  return {
    id: row.id,
    patient: row.record,
    status,
    operation,
    resource_type,
    resource_id,
    current_version: row.base_version,
    resource,
    difference: changes,
    author_type: row.author_type,
    application: applicationView(row),
    rationale: row.rationale,
    created_at: toInstant(row.created_at),
    expires_at: toInstant(row.expires_at),
    decided_at: ended_at === null ? null : toInstant(ended_at),
    version,
    fhir: version === null || resource_id === null ? null : `${resource_type}/${resource_id}`,
  };
}

/**
 * Returns the JSON text of a list of proposals.
 * @param next the cursor of the next page; null on the last page
 */
export function proposalList(data: readonly JsonObject[], total: number, next: string | null): string {
  return printJson({ data: [...data], total, next_cursor: next });
}
