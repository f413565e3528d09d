/** Lists the changes that applications propose to a person's record: `/me/patients/{patient_id}/proposals`. */
import { z } from 'zod';
import { PROPOSAL_STATUSES, type ProposalRow } from '#queries/consents/proposals.ts';
import { type JsonObject, printJson } from '#src/shared/json/json.ts';
import { notFound } from '#src/shared/refusal.ts';
import { toAuthor } from '../admin/access.ts';
import { proposalList, proposalSchema, proposalView, proposedVersion } from '../api/proposal-view.ts';
import { route } from '../api/route.ts';
import { listSchema } from '../api/schemas.ts';
import { linkFor, type MeRequest } from './access.ts';
import { RECORD_QUERY } from './schemas.ts';

const common = {
  tag: 'Patients and consent',
  credential: 'identity',
  grantToken: 'refused',
  models: ['consents', 'resources', 'history'],
} as const;
const path = '/me/patients/{patient_id}/proposals';

/** Returns a proposal as the people of its record see it. */
async function viewWhole(services: MeRequest['services'], row: ProposalRow): Promise<JsonObject> {
  return proposalView(row, await proposedVersion(services, row));
}

/**
 * Returns the JSON text of a proposal in its current state.
 * @throws Refusal not_found
 */
async function renderProposal({ services }: MeRequest, record: string, id: string): Promise<string> {
  const row = await services.consentQueries.proposal(record, id);
  if (row === undefined) throw notFound('proposal', id.slice(0, 64));
  return printJson(await viewWhole(services, row));
}

/** Routes for proposals. */
export const MY_PROPOSAL_ROUTES = [
  route({
    ...common,
    method: 'GET',
    path,
    operationId: 'listMyProposals',
    summary: 'Changes to a record that applications propose',
    description:
      'The newest proposal comes first, each with its changes. `author_type` `ai` marks proposals that a program made: nobody has verified their values.',
    query: z.strictObject({ ...RECORD_QUERY, status: z.enum(PROPOSAL_STATUSES).optional() }),
    answers: { 200: { description: 'A page', schema: listSchema(proposalSchema) } },
    async run(request) {
      const { services, params, query } = request;
      const { limit, cursor, status, environment } = query;
      const { record } = await linkFor(request, params.patient_id, environment);
      await services.freshness.catchUp(common.models);
      const page = await services.consentQueries.listProposals({ limit, cursor, status, record });
      const data = await Promise.all(page.rows.map((row) => viewWhole(services, row)));
      return { status: 200, text: proposalList(data, page.total, page.next ?? null) };
    },
  }),
  route({
    ...common,
    method: 'POST',
    path: `${path}/{proposal_id}/accept`,
    operationId: 'acceptMyProposal',
    summary: 'Accept a proposed change',
    description:
      'Writes the change, with the application’s author as author and you as the person who approved it. The first decision counts; a second one returns 409. The answer is also 409 if the resource has changed, the proposal has expired, or the application is no longer allowed to make the change.',
    answers: {
      200: { description: 'The proposal, with the version that resulted from it', schema: proposalSchema },
    },
    async run(request) {
      const { services, identity, params } = request;
      const { record, relationship } = await linkFor(request, params.patient_id);
      const { issuer, subject } = identity;
      const proposal = { record, proposalId: params.proposal_id.slice(0, 64) };
      const person = { issuer, subject, relationship };
      const { wrote } = await services.proposals.accept(toAuthor(request), proposal, person);
      const text = await renderProposal(request, record, proposal.proposalId);
      return { status: 200, text, position: wrote?.position, reads: true };
    },
  }),
  route({
    ...common,
    method: 'POST',
    path: `${path}/{proposal_id}/reject`,
    operationId: 'rejectMyProposal',
    summary: 'Reject a proposed change',
    description:
      '`reason` is for your own notes: it is kept in the record’s history, and no application is told. The first decision counts; a second one returns 409.',
    body: z
      .strictObject({ reason: z.string().trim().min(1).max(1_000).optional() })
      .meta({ examples: [{ reason: 'The dose is wrong.' }] }),
    answers: { 200: { description: 'The proposal as it is now', schema: proposalSchema } },
    async run(request) {
      const { services, identity, params, body } = request;
      const { record } = await linkFor(request, params.patient_id);
      const { issuer, subject } = identity;
      const proposal = { record, proposalId: params.proposal_id.slice(0, 64) };
      const person = { issuer, subject };
      const { wrote } = await services.proposals.reject(toAuthor(request), proposal, person, body.reason);
      const text = await renderProposal(request, record, proposal.proposalId);
      return { status: 200, text, position: wrote?.position, reads: true };
    },
  }),
];
