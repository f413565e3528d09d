/**
 * Handles changes that an application proposes to a record to which a person has given it access (docs/spec/decisions.md,
 * section 7). The person decides on them below `/me`.
 */

import { z } from 'zod';
import type { NewProposal } from '#commands/proposal/proposals.ts';
import { PROPOSAL_STATUSES, type ProposalRow } from '#queries/consents/proposals.ts';
import { isResourceType, type ResourceType, typeEntry } from '#src/fhir/types.ts';
import { AUTHOR_TYPES } from '#src/shared/access/author.ts';
import type { Granted } from '#src/shared/access/caller.ts';
import { requireLetters } from '#src/shared/access/outside-grant.ts';
import { cut } from '#src/shared/cut.ts';
import { isUuid } from '#src/shared/ids.ts';
import { isObject, type JsonObject, printJson } from '#src/shared/json/json.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { proposalList, proposalSchema } from '../../api/proposal-view.ts';
import { route } from '../../api/route.ts';
import { LIST_QUERY, listSchema } from '../../api/schemas.ts';
import { byKey } from '../people.ts';
import { makeCommandContext, type RestRequest, shownCursor } from '../record.ts';
import { AUTHOR } from '../schemas.ts';
import { viewUnder } from './proposal-under-grant.ts';

const asked = z
  .strictObject({
    operation: z.enum(['create', 'update']),
    resource_type: z.string().max(64).optional().describe('Default: the type of the resource.'),
    resource: z
      .record(z.string(), z.unknown())
      .describe('The whole FHIR resource after the change; for an update, including its `id`.'),
    current_version: z
      .int()
      .min(1)
      .max(2_147_483_647)
      .optional()
      .describe('For an update: the version that you read and changed. Default: `resource.meta.versionId`.'),
    rationale: z
      .string()
      .trim()
      .min(1)
      .max(2_000)
      .optional()
      .describe('The reason. The person reads it beside the change.'),
    author_type: z.enum(AUTHOR_TYPES).optional().describe('`ai` if a program made the content.'),
  })
  .meta({
    examples: [
      {
        operation: 'create',
        resource: {
          resourceType: 'Condition',
          subject: { reference: 'Patient/01890000-0000-7000-8000-000000000000' },
          code: { text: 'Penicillin allergy suspected' },
        },
        rationale: 'You mentioned a rash after penicillin in 2019.',
        author_type: 'ai',
      },
    ],
  });

type Asked = z.output<typeof asked>;

const path = '/v1/patients/{patient_id}/proposals';
const common = {
  tag: 'Patients and consent',
  credential: 'api_key',
  models: ['consents', 'resources', 'history'],
} as const;
const opening = { needs: [], type: null } as const;

/**
 * Returns a request's grant if it is for the record in the path.
 * @throws Refusal forbidden (403) for other credentials; not_found (404)
 */
function grantOn({ caller }: RestRequest, patient: string): Granted & { readonly applicationId: string } {
  const { within } = caller.sees;
  const { credential } = caller.calls;
  if (within === undefined || credential.kind !== 'grant')
    throw new Refusal('forbidden', {
      code: 'forbidden',
      diagnostics:
        'proposals are made under a grant, with an access token (at_…) that a person gave; a project writes to its own patients directly',
    });
  if (patient !== within.record) throw notFound('Patient', cut(patient, 64));
  return { ...within, applicationId: credential.applicationId };
}

/**
 * Returns the proposal in a body.
 * @throws Refusal forbidden (403), invalid (422)
 */
function proposalIn(body: Asked, exact: JsonObject | undefined, granted: Granted): NewProposal {
  const value = requireResource(exact ?? body);
  const type = value.resourceType;
  if (typeof type !== 'string' || !isProposable(type))
    throw invalid('resource.resourceType', 'name a resource type that belongs to a patient’s record');
  if (body.resource_type !== undefined && body.resource_type !== type)
    throw invalid('resource_type', `resource_type is ${body.resource_type}, but the resource is a ${type}`);
  const resource = { value, exact: exact !== undefined };
  const base = { type, resource, rationale: body.rationale ?? null };
  if (body.operation === 'create') {
    requireLetters(granted, type, 'c');
    if (type === 'Patient')
      throw new Refusal('forbidden', {
        code: 'forbidden',
        diagnostics:
          'a new Patient is a new record, which a grant can’t create; propose an update of the patient',
      });
    if (body.current_version !== undefined)
      throw invalid('current_version', 'a creation changes no version; leave it out, or use "update"');
    return { ...base, operation: 'create' };
  }
  requireLetters(granted, type, 'u');
  const { id } = value;
  if (typeof id !== 'string' || !isUuid(id))
    throw invalid('resource.id', 'an update needs the id of the resource that it changes');
  return { ...base, operation: 'update', id, baseVersion: body.current_version ?? versionIn(value) };
}

function requireResource({ resource }: { readonly [name: string]: unknown }): JsonObject {
  if (!isJsonObject(resource)) throw new TypeError('the body was checked before');
  return resource;
}

/** Returns whether a value is an object. A value parsed from JSON can contain only JSON. */
function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns the version that a resource names.
 * @throws Refusal invalid (422)
 */
function versionIn({ meta }: JsonObject): number {
  const named = isObject(meta) ? meta.versionId : undefined;
  if (typeof named === 'string' && /^[1-9]\d{0,8}$/.test(named)) return Number(named);
  throw invalid('current_version', 'an update needs the version that it changes, as current_version');
}

/**
 * Provenances can't be proposed, because the service writes them to record what was written. Patients can't be proposed,
 * because a new Patient is a new record, which requires a key.
 */
function isProposable(type: string): type is ResourceType {
  return isResourceType(type) && type !== 'Provenance' && ['record', 'either'].includes(typeEntry(type).home);
}

function invalid(expression: string, diagnostics: string): Refusal {
  return new Refusal('invalid', { code: 'value', diagnostics, expression });
}

/**
 * Runs a write.
 * @throws Refusal invalid (422), whose fields are paths inside `resource`
 */
async function inResource<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind !== 'invalid') throw error;
    const issues = error.issues.map((issue) =>
      issue.expression === undefined
        ? issue
        : { ...issue, expression: issue.expression.replace(/^[A-Z]\w*(?=\.|$)/, 'resource') },
    );
    throw new Refusal('invalid', issues, { ...error.headers });
  }
}

/**
 * Returns one of the application's proposals.
 * @throws Refusal not_found (404)
 */
async function ownProposal(
  { services }: RestRequest,
  { record, applicationId }: { readonly record: string; readonly applicationId: string },
  id: string,
): Promise<ProposalRow> {
  const row = await services.consentQueries.proposal(record, cut(id, 64));
  if (row?.application_id !== applicationId) throw notFound('proposal', cut(id, 64));
  return row;
}

/** The routes. */
export const PROPOSAL_ROUTES = [
  route({
    ...common,
    method: 'POST',
    path,
    operationId: 'createProposal',
    summary: 'Propose a change instead of writing it',
    description:
      'Requires an access token from a grant with the letter `c` (create) or `u` (update) for the resource’s type. The resource is checked as in a write. The proposal is pending for 30 days, but not beyond the end of the grant. At most 100 proposals can be pending under a grant (409). The webhooks `proposal.accepted` and `proposal.rejected` report what the person decided.',
    grantToken: { ...opening, action: 'propose' },
    scope: 'write',
    headers: AUTHOR,
    body: asked,
    answers: { 201: { description: 'The pending proposal', schema: proposalSchema } },
    async run(request) {
      const { services, params, body, exact } = request;
      const granted = grantOn(request, params.patient_id);
      const proposal = proposalIn(body, exact, granted);
      const ctx = makeCommandContext(request, body.author_type);
      const { result, wrote } = await inResource(services.proposals.propose(ctx, proposal));
      const row = await ownProposal(request, granted, result.proposalId);
      const text = printJson(await viewUnder(request, granted, row));
      return { status: 201, text, position: wrote?.position, reads: true };
    },
  }),
  route({
    ...common,
    method: 'GET',
    path,
    operationId: 'listProposals',
    summary: 'Changes that your application has proposed, the newest first',
    description: 'Lists this application’s proposals for the patient, including those under earlier grants.',
    grantToken: { ...opening, action: 'list-proposals' },
    query: z.strictObject({ ...LIST_QUERY, status: z.enum(PROPOSAL_STATUSES).optional() }),
    answers: { 200: { description: 'A page', schema: listSchema(proposalSchema) } },
    async run(request) {
      const { services, params, query } = request;
      const granted = grantOn(request, params.patient_id);
      await services.freshness.catchUp(common.models);
      const { record, applicationId: application } = granted;
      const page = await services.consentQueries.listProposals({ ...query, record, application });
      const data = await Promise.all(page.rows.map((row) => viewUnder(request, granted, row)));
      const text = proposalList(data, page.total, shownCursor(request, page.next));
      return { status: 200, text, shown: data.length };
    },
  }),
  route({
    ...common,
    method: 'GET',
    path: `${path}/{proposal_id}`,
    operationId: 'getProposal',
    summary: 'Read a proposal of your application',
    description: 'Returns the proposed write, its changes, and the decision if there is one.',
    grantToken: { ...opening, action: 'read-proposal' },
    answers: { 200: { description: 'The proposal', schema: proposalSchema } },
    async run(request) {
      const { services, params } = request;
      const granted = grantOn(request, params.patient_id);
      await services.freshness.catchUp(common.models);
      const row = await ownProposal(request, granted, params.proposal_id);
      return { status: 200, text: printJson(await viewUnder(request, granted, row)), shown: 1 };
    },
  }),
  route({
    ...common,
    method: 'POST',
    path: `${path}/{proposal_id}/withdraw`,
    operationId: 'withdrawProposal',
    summary: 'Withdraw a proposal',
    description:
      'The person can no longer accept it. Withdrawing it again changes nothing; a proposal that has ended in another way returns 409.',
    grantToken: { ...opening, action: 'withdraw-proposal' },
    scope: 'write',
    answers: { 200: { description: 'The proposal as it is now', schema: proposalSchema } },
    async run(request) {
      const { services, params } = request;
      const granted = grantOn(request, params.patient_id);
      await services.freshness.catchUp(['consents']);
      const { id, record } = await ownProposal(request, granted, params.proposal_id);
      const { wrote } = await services.proposals.withdraw(byKey(request), { record, proposalId: id });
      const text = printJson(await viewUnder(request, granted, await ownProposal(request, granted, id)));
      return { status: 200, text, position: wrote?.position, reads: true };
    },
  }),
];
