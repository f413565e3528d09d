import { z } from 'zod';
import { isObject, type JsonObject, printJson } from '#src/shared/json/json.ts';
import { askJson, askPage, findPatient, readText } from '../ask.ts';
import { oneLine } from '../entry-line.ts';
import { entries, recordOutput, recordText } from '../record-content.ts';
import { COMMON, CURSOR, defineTool, LIMIT, TEXT_TOKENS } from '../tool.ts';

const STATUSES = ['pending', 'accepted', 'rejected', 'withdrawn', 'superseded', 'expired'] as const;

/** Proposes a change, which the person accepts or rejects. */
export const proposeChange = defineTool({
  name: 'propose_change',
  title: 'Propose a change',
  description:
    'Proposes to create or update one resource. Nothing changes until the person accepts it on their own pages. It is marked as written by an AI, even after it is accepted.',
  writes: true,
  for: 'grant',
  input: z.strictObject({
    ...COMMON,
    operation: z.enum(['create', 'update']),
    resource: z
      .record(z.string(), z.unknown())
      .describe(
        'The whole FHIR R4 resource after the change; for an update, including the id of the resource that you read.',
      ),
    current_version: z
      .int()
      .min(1)
      .optional()
      .describe('For an update: the version that you read and changed.'),
    rationale: z.string().min(1).max(2_000).describe('The reason, in the person’s language. They read it.'),
  }),
  output: recordOutput(z.looseObject({ id: z.string(), status: z.enum(STATUSES) })),
  async run({ patient, operation, resource, current_version, rationale }, reach) {
    const path = `/v1/patients/${await findPatient(reach, patient)}/proposals`;
    const sent = reach.exact?.resource;
    const exact: JsonObject = isObject(sent) ? sent : JSON.parse(JSON.stringify(resource));
    const body = printJson({
      ...{ operation, resource: exact, rationale, author_type: 'ai' },
      ...(current_version === undefined ? {} : { current_version }),
    });
    const proposal = await askJson(reach, { method: 'POST', path, body });
    return {
      text: `Proposed as ${readText(proposal.id)}. The person decides until ${readText(proposal.expires_at)}; my_proposals says what became of it.`,
      structured: { record_content: proposal, incomplete: [] },
    };
  },
});

/** Lists the outcomes of the caller's proposals. */
export const myProposals = defineTool({
  name: 'my_proposals',
  title: 'What became of your proposals',
  description:
    'The changes that your application has proposed for the patient, the newest first, and what was decided about them.',
  for: 'grant',
  input: z.strictObject({
    ...COMMON,
    status: z.enum(STATUSES).optional(),
    limit: LIMIT,
    text_tokens: TEXT_TOKENS,
    cursor: CURSOR,
  }),
  output: recordOutput(z.object({ proposals: entries })),
  async run({ patient, text_tokens, cursor, ...query }, reach) {
    const path = `/v1/patients/${await findPatient(reach, patient)}/proposals`;
    const { items, next } = await askPage(reach, { path, query }, cursor);
    return {
      text: recordText(`${items.length} proposals on this page.`, items.map(proposalLine), text_tokens),
      structured: { record_content: { proposals: [...items] }, incomplete: [], next_cursor: next },
      versions: items.flatMap(({ fhir, version }) =>
        typeof fhir === 'string' ? [`${fhir}/_history/${String(version)}`] : [],
      ),
    };
  },
});

function proposalLine({ id, status, operation, resource_type, created_at, rationale }: JsonObject): string {
  return oneLine([id, status, operation, resource_type, created_at, rationale ?? ''].map(String).join(' · '));
}
