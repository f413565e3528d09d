/**
 * Builds a patient's context for a language model (docs/spec/interface.md, section 2.5; docs/spec/decisions.md, section 4
 * "Context").
 */
import { z } from 'zod';
import type { MadeAt } from '#queries/context/context.ts';
import { buildAnswer, madeFor } from '#src/context/answer.ts';
import { draftContext, type GrantManifest } from '#src/context/manifest.ts';
import { maskedRequest } from '#src/context/masked.ts';
import { CONTEXT_TYPES } from '#src/context/record.ts';
import { type ContextRequest, KINDS, NEED_FORMS, parseNeed } from '#src/context/request.ts';
import { AUTHOR_TYPES } from '#src/shared/access/author.ts';
import { type Caller, requireFilled } from '#src/shared/access/caller.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { route } from '../api/route.ts';
import { VERSION } from '../version.ts';
import { atMoment, past } from './as-of.ts';
import type { RestRequest } from './record.ts';
import { optional, text } from './schemas.ts';

/** Minimum number of tokens, enough for the patient and a line or two. */
const LEAST = 50;
const MOST = 100_000;

const asked = z
  .strictObject({
    patient: z.string().max(64).describe('The id of the patient.'),
    task: optional(text.max(200)).describe('The task in words: `medication review`, `follow-up: diabetes`.'),
    question: optional(text.max(2_000)).describe('The question to answer.'),
    needs: optional(
      z
        .array(
          z
            .string()
            .max(300)
            .refine((need) => parseNeed(need) !== undefined, NEED_FORMS),
        )
        .max(50),
    ).describe(
      'Facts that the context must include if they are recorded, most important first: `labs:4548-4`, `vitals:trend:85354-9`, `timeline:180d`, `medications`.',
    ),
    budget_tokens: z
      .int()
      .min(LEAST)
      .max(MOST)
      .default(2_000)
      .describe('Maximum number of tokens of the text.'),
    format: z.enum(['structured', 'text']).default('structured'),
    window_days: optional(z.int().min(1).max(36_500)).describe(
      'How far back to include findings, visits, procedures, vaccinations, documents and past problems.',
    ),
    as_of: optional(past).describe(
      'The context as it would have been made at this time: ISO 8601 with an offset.',
    ),
  })
  .meta({
    examples: [{ patient: '019aa…', task: 'follow-up: diabetes', budget_tokens: 800, format: 'text' }],
  });

const item = z.looseObject({
  text: z.string().describe('One line.'),
  date: z.string().nullable().describe('When it happened or began, as written in the record.'),
  author_type: z.enum(AUTHOR_TYPES).describe('The kind of author who wrote this version.'),
  source: z.string().nullable().describe('The source system.'),
  fhir: z.string().describe('`<Type>/<id>/_history/<version>`'),
  verified: z.literal(false).optional().describe('Only in `ai_notes`.'),
  before: z
    .array(z.string())
    .optional()
    .describe('In `ai_notes`: the text that another author had written before an AI changed it.'),
});

const contextSchema = z
  .object({
    manifest_id: z.string().describe('Id of the manifest, from which the same context can be made again.'),
    patient: z.string(),
    budget_tokens: z.int(),
    tokens_used: z
      .int()
      .describe(
        'Number of tokens in the text that `format: text` returns; structured answers have the same content.',
      ),
    tokenizer: z.string(),
    needs: z.array(z.string()),
    sections: z.array(
      z.object({
        kind: z.enum(KINDS),
        tokens: z.int().describe('Number of tokens in this section’s part of the text.'),
        items: z.array(item).describe('The most needed first.'),
        text: z.string().optional(),
        note: z.string().optional(),
        sources: z.array(z.string()).describe('Every version that the context was made from.'),
      }),
    ),
    omitted: z.array(
      z.object({ kind: z.enum(KINDS), count: z.int(), reason: z.enum(['budget', 'window', 'past']) }),
    ),
    warnings: z.array(
      z.object({
        kind: z.enum(['contradiction', 'gap', 'left_out', 'not_found']),
        text: z.string(),
        fhir: z.array(z.string()),
        count: z.int().optional(),
      }),
    ),
    provenance_note: z.string(),
    text: z.string().optional().describe('With `format: text`.'),
  })
  .meta({ id: 'Context' });

/** The route for contexts. */
export const CONTEXT_ROUTES = [
  route({
    method: 'POST',
    path: '/v1/context',
    operationId: 'tellContext',
    summary: 'Get the facts that a language model needs about a patient, within a budget of tokens',
    description:
      'Read-only. The answer is the same for the same record, request and day. Content written by an AI is only in `ai_notes`. Resources that were entered in error or refuted, or have an unknown modifierExtension, are left out and counted in `warnings`.',
    tag: 'Timeline and context',
    credential: 'api_key',
    grantToken: { action: 'context', needs: [], type: null },
    scope: 'read',
    body: asked,
    answers: { 200: { description: 'The context', schema: contextSchema } },
    async run(sent) {
      const { patient, needs = [], as_of: asOf, ...rest } = sent.body;
      const request = await atMoment(sent, asOf);
      const { caller, now } = request;
      requireFilled(caller.sees);
      const given: ContextRequest = { ...rest, needs };
      const ask = caller.sees.within === undefined ? given : maskedRequest(given);
      const day = toInstant(caller.sees.asOf ?? now()).slice(0, 10);
      const made = await tellContext(request, { patient, ask, today: day });
      if (made === undefined) throw notFound('Patient', patient);
      const grant = grantManifest(caller, made);
      const ground = {
        ...{ patient, day, at: toInstant(made.at), version: VERSION },
        madeFor: madeFor(caller.sees.ownerId, grant?.id),
        ...(grant === undefined ? {} : { grant }),
      };
      const { body: answer, id, manifest, versions } = buildAnswer(made, ask, ground);
      const receipt = draftContext(manifest, versions, {
        tenant: caller.sees.ownerId,
        name: id,
        isPast: asOf !== undefined,
      });
      return { status: 200, body: answer, reads: true, shown: versions.length, receipt };
    },
  }),
];

/** Returns the part of a manifest that says what a grant covered; undefined without a grant. */
function grantManifest(
  { calls: { credential }, sees: { within } }: Caller,
  { until }: MadeAt,
): GrantManifest | undefined {
  if (credential.kind !== 'grant' || within === undefined) return undefined;
  const types = CONTEXT_TYPES.flatMap((type) => {
    const own = within.access.types.get(type);
    return own === undefined ? [] : [[type, own] as const];
  });
  return {
    id: credential.grantId,
    patient: within.patient,
    types: Object.fromEntries(types),
    until: toInstant(until),
  };
}

/** If one read model already contains a concurrent write and the other doesn't, waits until both do. */
async function tellContext(
  { services, caller }: RestRequest,
  asking: { readonly patient: string; readonly ask: ContextRequest; readonly today: string },
): Promise<MadeAt | undefined> {
  try {
    return await services.queries.tellContext(caller, asking);
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind !== 'unavailable') throw error;
    await services.freshness.catchUp(['resources', 'history']);
    return services.queries.tellContext(caller, asking);
  }
}
