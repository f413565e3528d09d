/** REST v1 routes for conditions. */
import { z } from 'zod';
import { shownCondition, toCondition } from '#src/v1/condition.ts';
import { route } from '../api/route.ts';
import { LIST_QUERY, listSchema, PAGED } from '../api/schemas.ts';
import { PAST_QUERY } from './as-of.ts';
import { writtenSchema } from './inputs.ts';
import { itemRoutes } from './item-routes.ts';
import { createItem, creates, type Kind, listItems } from './items.ts';
import { LISTING_MODELS } from './listing.ts';
import {
  AUTHOR,
  authorType,
  code,
  coded,
  common,
  date,
  ids,
  inOrder,
  oneSystem,
  optional,
  shownCode,
  text,
} from './schemas.ts';

const TAG = 'Conditions';
const KIND: Kind = { type: 'Condition', path: 'conditions', fields: shownCondition };

const clinicalStatus = z.enum(['active', 'recurrence', 'relapse', 'inactive', 'remission', 'resolved']);

const conditionSchema = z
  .object({
    ...ids,
    ...shownCode,
    clinical_status: z.string().nullable(),
    onset: z.string().nullable(),
    abatement: z.string().nullable(),
    note: z.string().nullable(),
    ...common,
  })
  .meta({ id: 'Condition' });

const ABATED = new Set(['inactive', 'remission', 'resolved']);

const condition = z
  .strictObject({
    code,
    ...coded,
    clinical_status: clinicalStatus.nullish().transform((status) => status ?? 'active'),
    onset: optional(date),
    abatement: optional(date),
    note: optional(text),
    author_type: authorType,
  })
  .superRefine(oneSystem)
  .superRefine(({ clinical_status, onset, abatement }, context) => {
    inOrder(onset, abatement, 'abatement')(context);
    // R4's invariant con-4.
    if (abatement !== undefined && !ABATED.has(clinical_status)) {
      const message = `is allowed only with clinical_status ${[...ABATED].join(', ')}`;
      context.addIssue({ code: 'custom', path: ['abatement'], message });
    }
  })
  .meta({ examples: [{ code: 'E11.9', display: 'Type 2 diabetes mellitus', onset: '2019-11-04' }] });

export const CONDITION_ROUTES = [
  route({
    method: 'POST',
    path: '/v1/patients/{patient_id}/conditions',
    operationId: 'createCondition',
    summary: 'Record a condition',
    description: 'A `code` without a system is ICD-10.',
    tag: TAG,
    credential: 'api_key',
    grantToken: creates('Condition'),
    scope: 'write',
    headers: AUTHOR,
    body: condition,
    answers: {
      201: { description: 'The condition', schema: writtenSchema(conditionSchema, 'WrittenCondition') },
    },
    run(request) {
      const { author_type, ...given } = request.body;
      const { patient_id: patient } = request.params;
      return createItem(request, KIND, patient, toCondition(given, `Patient/${patient}`), author_type);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/patients/{patient_id}/conditions',
    operationId: 'listConditions',
    summary: 'A patient’s conditions, the newest first',
    description: `${PAGED} Conditions that were entered in error are left out.`,
    tag: TAG,
    credential: 'api_key',
    grantToken: { action: 'search-type', needs: [{ type: 'Condition', letters: 's' }], type: 'Condition' },
    models: LISTING_MODELS,
    query: z.strictObject({ ...LIST_QUERY, ...PAST_QUERY, clinical_status: clinicalStatus.optional() }),
    answers: { 200: { description: 'A page', schema: listSchema(conditionSchema) } },
    run(request) {
      const { clinical_status: status, ...page } = request.query;
      const by = status === undefined ? [] : [['clinical_status', status] as const];
      return listItems(request, KIND, request.params.patient_id, { by, ...page });
    },
  }),
  ...itemRoutes(KIND, { tag: TAG, name: 'Condition', schema: conditionSchema }),
];
