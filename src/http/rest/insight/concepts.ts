/**
 * Serves concepts, which name symptoms, conditions and treatments in everyday and clinical language (docs/spec/interface.md,
 * section 4.3; docs/spec/decisions.md, section 4: Concepts).
 */

import { z } from 'zod';
import { decodeCursorFor, encodeCursorFor, staleCursor } from '#queries/cursor.ts';
import { cut } from '#src/shared/cut.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { FoundConcept, FoundConcepts, RelatedConcept } from '#src/terminology/concepts/concepts.ts';
import { CONCEPT_TYPES, type ConceptType } from '#src/terminology/concepts/entry.ts';
import { type RequestContext, type RouteResult, route } from '../../api/route.ts';
import { listSchema, wholeNumber } from '../../api/schemas.ts';
import { shownCursor } from '../record.ts';

const common = {
  tag: 'Terminology',
  credential: 'api_key',
  grantToken: { action: 'terminology', needs: [], type: null },
  models: [],
} as const;

const code = z.object({ system: z.string().describe('URI of the code system.'), code: z.string() });

const shown = {
  concept_id: z.string(),
  type: z.enum(CONCEPT_TYPES),
  display: z.string(),
  synonyms: z.array(z.string()),
  codes: z.array(code),
};

const conceptSchema = z.object(shown).meta({ id: 'Concept' });

const relatedSchema = z
  .object({
    relation: z
      .enum(['symptom_of', 'has_symptom', 'treated_with', 'treats', 'measured_by', 'part_of', 'has_part'])
      .describe('How the concept relates to the other concept.'),
    concept_id: z.string().nullable().describe('Null for `measured_by`, which leads to a code.'),
    type: z.enum(CONCEPT_TYPES).nullable(),
    display: z.string().nullable(),
    code: code.nullable().describe('The LOINC code, for `measured_by`; otherwise null.'),
  })
  .meta({ id: 'RelatedConcept' });

const describedSchema = z
  .object({ ...shown, related: z.array(relatedSchema) })
  .meta({ id: 'DescribedConcept' });

const lang = z
  .string()
  .max(40)
  .default('en')
  .describe('Language, a BCP 47 tag. Concepts that have no text in this language have their English text.');
const limit = wholeNumber(1, 50, 20).describe('Maximum number of concepts in the answer.');
const q = z
  .string()
  .max(80)
  .regex(/\S/, 'must not be blank')
  .describe('1 to 80 characters: the beginning of a name or some of its words, or a code.');

const HOW =
  'If no known word begins with a word of yours, the most similar words are used. Codes also find their concepts: `E11` finds type 2 diabetes.';

const DESCRIBED = 'Returns the concept with its codes and related concepts, in the language `lang`.';

/** Returns the routes for one type of concept. */
function makeRoutes<const Plural extends string>(type: ConceptType, plural: Plural, name: string) {
  return [
    route({
      ...common,
      method: 'GET',
      path: `/v1/terminology/${plural}`,
      operationId: `find${name}Concepts`,
      summary: `${name}s by typed text, or all of them`,
      description: `${HOW} Without \`q\`, the list has all ${plural} in the order of their names.`,
      query: z.strictObject({
        q: q.optional(),
        limit,
        lang,
        cursor: z
          .string()
          .max(1_000)
          .optional()
          .describe('`next_cursor` from the previous page; not allowed with `q`.'),
      }),
      answers: { 200: { description: `The ${plural}`, schema: listSchema(conceptSchema) } },
      async run(request) {
        const { services, query } = request;
        if (query.q !== undefined && query.cursor !== undefined)
          throw new Refusal('invalid', {
            code: 'value',
            diagnostics: 'query.cursor is for lists without q; a search has one page',
            expression: 'query.cursor',
          });
        if (query.q !== undefined)
          return found(await services.concepts.find(query.q, type, query.limit, query.lang));
        const after =
          query.cursor === undefined ? [] : decodeCursorFor(plural, query.cursor, z.tuple([z.string()]));
        const listed = await services.concepts.list(type, query.limit, query.lang, after[0]);
        if (listed === undefined) throw staleCursor('concept');
        const last = listed.concepts.at(-1);
        const next =
          listed.more && last !== undefined ? encodeCursorFor(plural, [last.conceptId]) : undefined;
        return {
          status: 200,
          body: {
            data: listed.concepts.map(shownAs),
            total: listed.total,
            next_cursor: shownCursor(request, next),
          },
        };
      },
    }),
    route({
      ...common,
      method: 'GET',
      path: `/v1/terminology/${plural}/{concept_id}`,
      operationId: `get${name}Concept`,
      summary: `A ${type} with its related concepts and codes`,
      description: DESCRIBED,
      query: z.strictObject({ lang }),
      answers: { 200: { description: `The ${type}`, schema: describedSchema } },
      run: ({ services, params, query }) => described(services, params.concept_id, query.lang, type),
    }),
  ];
}

/** Returns the routes for all concepts below a path. */
function searchRoutes<const Path extends string>(path: Path, operation: string) {
  return [
    route({
      ...common,
      method: 'GET',
      path,
      operationId: `search${operation}Concepts`,
      summary: 'Symptoms, conditions and treatments by typed text',
      description: HOW,
      query: z.strictObject({ q, limit, lang }),
      answers: { 200: { description: 'The concepts, the best first', schema: listSchema(conceptSchema) } },
      run: async ({ services, query }) =>
        found(await services.concepts.find(query.q, undefined, query.limit, query.lang)),
    }),
    route({
      ...common,
      method: 'GET',
      path: `${path}/{concept_id}`,
      operationId: `get${operation}Concept`,
      summary: 'A concept with its related concepts and codes',
      description: DESCRIBED,
      query: z.strictObject({ lang }),
      answers: { 200: { description: 'The concept', schema: describedSchema } },
      run: ({ services, params, query }) => described(services, params.concept_id, query.lang),
    }),
  ];
}

export const CONCEPT_ROUTES = [
  ...makeRoutes('symptom', 'symptoms', 'Symptom'),
  ...makeRoutes('condition', 'conditions', 'Condition'),
  ...makeRoutes('treatment', 'treatments', 'Treatment'),
  ...searchRoutes('/v1/terminology/search', 'Terminology'),
  ...searchRoutes('/v1/search', 'Any'),
];

function found({ concepts, total }: FoundConcepts): RouteResult {
  return { status: 200, body: { data: concepts.map(shownAs), total, next_cursor: null } };
}

async function described(
  services: RequestContext['services'],
  conceptId: string,
  language: string,
  type?: ConceptType,
): Promise<RouteResult> {
  const concept = await services.concepts.describe(conceptId, language);
  if (concept === undefined || (type !== undefined && concept.type !== type)) {
    const what = type ?? 'concept';
    const search = type === undefined ? '/v1/search' : `/v1/terminology/${type}s`;
    throw new Refusal('not_found', {
      code: 'not-found',
      diagnostics: `unknown ${what} ${cut(conceptId, 60)}; ${search}?q= finds concepts`,
    });
  }
  return { status: 200, body: { ...shownAs(concept), related: concept.related.map(relatedAs) } };
}

function shownAs({ conceptId, type, display, synonyms, codes }: FoundConcept) {
  return { concept_id: conceptId, type, display, synonyms, codes };
}

function relatedAs({ relation, concept, code, display }: RelatedConcept) {
  return { relation, concept_id: concept?.conceptId ?? null, type: concept?.type ?? null, display, code };
}
