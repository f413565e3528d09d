/** REST v1 routes for observations. */
import { z } from 'zod';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { type Decimal, LOINC, listIn, numberIn, objectIn, splitCode } from '#src/v1/elements.ts';
import { type By, codedValue } from '#src/v1/lists.ts';
import {
  CATEGORIES,
  categorySystem,
  type GivenObservation,
  shownObservation,
  toObservation,
} from '#src/v1/observation.ts';
import { route } from '../api/route.ts';
import { LIST_QUERY, listSchema, PAGED } from '../api/schemas.ts';
import { withAbsentUnits } from './absent-units.ts';
import { PAST_QUERY } from './as-of.ts';
import { daysInOrder } from './days.ts';
import { writtenSchema } from './inputs.ts';
import { itemRoutes } from './item-routes.ts';
import { createItem, creates, type Kind, listItems } from './items.ts';
import { LISTING_MODELS } from './listing.ts';
import {
  AUTHOR,
  authorType,
  checkedDigit,
  code,
  coded,
  common,
  date,
  exactlyOne,
  FIRST_DAY,
  ids,
  LAST_DAY,
  moment,
  oneSystem,
  optional,
  shownCode,
  text,
  unit,
} from './schemas.ts';

const TAG = 'Observations';
const KIND: Kind = { type: 'Observation', path: 'observations', fields: shownObservation };

const shownValue = {
  value: z.number().nullable(),
  unit: z.string().nullable(),
  value_text: z.string().nullable().describe('Also has the value in words if no other field can hold it.'),
  value_code: z.object(shownCode).nullable(),
  value_boolean: z.boolean().nullable(),
};

const range = z.object({ low: z.number().nullable(), high: z.number().nullable() });

/** An observation in a response. */
export const observationSchema = z
  .object({
    ...ids,
    ...shownCode,
    category: z.string().nullable(),
    effective_at: z.string().nullable(),
    ...shownValue,
    components: z.array(
      z.object({
        ...shownCode,
        ...shownValue,
        reference_range: range.optional().describe('Absent if the component doesn’t have its own.'),
      }),
    ),
    reference_range: range.nullable(),
    note: z.string().nullable(),
    derived_from: z.array(z.string()).describe('Ids of documents.'),
    status: z.string().nullable(),
    ...common,
  })
  .meta({ id: 'Observation' });

const VALUES = ['value', 'value_text', 'value_code', 'value_boolean', 'components'] as const;

const document = z
  .string()
  .regex(
    /^(?:DocumentReference\/)?[A-Za-z0-9.-]{1,64}$/,
    'must be the id of a document, or DocumentReference/<id>',
  );

const observation = z
  .strictObject({
    code,
    ...coded,
    category: z.enum(CATEGORIES),
    effective_at: moment,
    value: optional(z.number()),
    unit: optional(unit),
    value_text: optional(text),
    value_code: optional(
      z
        .strictObject({ code, ...coded })
        .superRefine(oneSystem)
        .superRefine(checkedDigit()),
    ),
    value_boolean: optional(z.boolean()),
    components: optional(
      z
        .array(
          z
            .strictObject({ code, ...coded, value: z.number(), unit: optional(unit) })
            .superRefine(oneSystem)
            .superRefine(checkedDigit(LOINC)),
        )
        .max(200)
        .transform((parts) => (parts.length === 0 ? undefined : parts)),
    ),
    reference_range: optional(z.strictObject({ low: optional(z.number()), high: optional(z.number()) })),
    note: optional(text),
    derived_from: optional(z.union([document, z.array(document).max(100)])).describe(
      'Ids of documents, or `DocumentReference/<id>`.',
    ),
    author_type: authorType,
  })
  .superRefine(oneSystem)
  .superRefine(checkedDigit(LOINC))
  .superRefine((given, context) => {
    const refuse = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message });
    exactlyOne(VALUES, given, context);
    if (given.value === undefined && given.unit !== undefined) refuse('unit', 'is allowed only with value');
    const range = given.reference_range;
    if (range === undefined) return;
    if (given.value === undefined) refuse('reference_range', 'is allowed only with value');
    if (range.low === undefined && range.high === undefined)
      refuse('reference_range', 'must have low or high');
    if (range.low !== undefined && range.high !== undefined && range.high < range.low)
      refuse('reference_range', 'must not have a high that is lower than its low');
  })
  .meta({
    examples: [
      {
        code: '4548-4',
        display: 'HbA1c',
        category: 'laboratory',
        effective_at: '2026-03-31T09:30:00+02:00',
        value: 7.1,
        unit: '%',
        reference_range: { low: 4, high: 5.6 },
      },
    ],
  });

/** Returns the observation with its decimals as they were sent, because their digits show the precision. */
function withLiterals(given: GivenObservation, exact: JsonObject): GivenObservation {
  const { value, reference_range: range, components } = given;
  const sent = objectIn(exact.reference_range);
  const parts = listIn(exact.components);
  const literal = (said: Decimal | undefined, written: Json | undefined): Decimal | undefined =>
    said === undefined ? undefined : (numberIn(written) ?? said);
  return {
    ...given,
    value: literal(value, exact.value),
    reference_range: range && { low: literal(range.low, sent.low), high: literal(range.high, sent.high) },
    components: components?.map((one, n) => ({
      ...one,
      value: literal(one.value, parts[n]?.value) ?? one.value,
    })),
  };
}

export const OBSERVATION_ROUTES = [
  route({
    method: 'POST',
    path: '/v1/patients/{patient_id}/observations',
    operationId: 'createObservation',
    summary: 'Record an observation',
    description:
      'Exactly one of `value` with `unit`, `value_text`, `value_code`, `value_boolean` and `components`. A `code` without a system is LOINC. `unit` can be absent if LOINC has no unit for the code; it is then `1`.',
    tag: TAG,
    credential: 'api_key',
    grantToken: creates('Observation'),
    scope: 'write',
    headers: AUTHOR,
    body: observation,
    answers: {
      201: { description: 'The observation', schema: writtenSchema(observationSchema, 'WrittenObservation') },
    },
    async run(request) {
      const { author_type, ...sent } = request.body;
      const { patient_id: patient } = request.params;
      const { exact } = request;
      const given = await withAbsentUnits(request, sent);
      const exactly = exact === undefined ? given : withLiterals(given, exact);
      const resource = toObservation(exactly, `Patient/${patient}`);
      return createItem(request, KIND, patient, resource, author_type, exact !== undefined);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/patients/{patient_id}/observations',
    operationId: 'listObservations',
    summary: 'A patient’s observations, the newest first',
    description: `${PAGED} Observations that were entered in error are left out.`,
    tag: TAG,
    credential: 'api_key',
    grantToken: {
      action: 'search-type',
      needs: [{ type: 'Observation', letters: 's' }],
      type: 'Observation',
    },
    models: LISTING_MODELS,
    query: z
      .strictObject({
        ...LIST_QUERY,
        ...PAST_QUERY,
        category: z.enum(CATEGORIES).optional(),
        code: code.optional().describe('LOINC, or `system|code`.'),
        from: date.optional().describe(FIRST_DAY),
        to: date.optional().describe(LAST_DAY),
      })
      .superRefine(daysInOrder),
    answers: { 200: { description: 'A page', schema: listSchema(observationSchema) } },
    run(request) {
      const { category, code: asked, ...page } = request.query;
      const { system = LOINC, code: wanted = '' } = asked === undefined ? {} : splitCode(asked);
      const by: readonly By[] = [
        ...(asked === undefined ? [] : [['code', codedValue(system, wanted)] satisfies By]),
        ...(category === undefined
          ? []
          : [['category', codedValue(categorySystem(category), category)] satisfies By]),
      ];
      return listItems(request, KIND, request.params.patient_id, { by, ...page });
    },
  }),
  ...itemRoutes(KIND, { tag: TAG, name: 'Observation', schema: observationSchema }),
];
