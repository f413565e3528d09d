/** REST v1 routes for medications. */
import { z } from 'zod';
import { medicationNames, medicationReferred, shownMedication, toMedication } from '#src/v1/medication.ts';
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

const TAG = 'Medications';
const KIND: Kind = {
  type: 'MedicationStatement',
  path: 'medications',
  fields: shownMedication,
  named: { type: 'Medication', readReference: medicationReferred, as: medicationNames },
};

const medicationStatus = z.enum(['active', 'completed', 'stopped', 'on-hold', 'intended', 'unknown']);

const medicationSchema = z
  .object({
    ...ids,
    ...shownCode,
    status: z.string().nullable(),
    dosage: z.string().nullable(),
    start: z.string().nullable(),
    end: z.string().nullable(),
    note: z.string().nullable(),
    ...common,
  })
  .meta({ id: 'Medication' });

const medication = z
  .strictObject({
    code: optional(code),
    ...coded,
    status: medicationStatus.nullish().transform((status) => status ?? 'active'),
    dosage: optional(text),
    start: optional(date),
    end: optional(date),
    note: optional(text),
    author_type: authorType,
  })
  .superRefine(oneSystem)
  .superRefine(({ code: given, system, display, start, end }, context) => {
    inOrder(start, end, 'end')(context);
    if (given === undefined && display === undefined)
      context.addIssue({ code: 'custom', path: ['code'], message: 'provide `code` or `display`' });
    if (given === undefined && system !== undefined)
      context.addIssue({ code: 'custom', path: ['system'], message: 'is allowed only with code' });
  })
  .meta({
    examples: [{ code: 'A10BA02', display: 'Metformin', dosage: '500 mg twice a day', start: '2019-11-04' }],
  });

export const MEDICATION_ROUTES = [
  route({
    method: 'POST',
    path: '/v1/patients/{patient_id}/medications',
    operationId: 'createMedication',
    summary: 'Record a medication',
    description: 'A `code` without a system is ATC.',
    tag: TAG,
    credential: 'api_key',
    grantToken: creates('MedicationStatement'),
    scope: 'write',
    headers: AUTHOR,
    body: medication,
    answers: {
      201: { description: 'The medication', schema: writtenSchema(medicationSchema, 'WrittenMedication') },
    },
    run(request) {
      const { author_type, ...given } = request.body;
      const { patient_id: patient } = request.params;
      return createItem(request, KIND, patient, toMedication(given, `Patient/${patient}`), author_type);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/patients/{patient_id}/medications',
    operationId: 'listMedications',
    summary: 'A patient’s medications, the newest first',
    description: `${PAGED} Medications that were entered in error are left out.`,
    tag: TAG,
    credential: 'api_key',
    grantToken: {
      action: 'search-type',
      needs: [{ type: 'MedicationStatement', letters: 's' }],
      type: 'MedicationStatement',
    },
    models: LISTING_MODELS,
    query: z.strictObject({ ...LIST_QUERY, ...PAST_QUERY, status: medicationStatus.optional() }),
    answers: { 200: { description: 'A page', schema: listSchema(medicationSchema) } },
    run(request) {
      const { status, ...page } = request.query;
      const by = status === undefined ? [] : [['status', status] as const];
      return listItems(request, KIND, request.params.patient_id, { by, ...page });
    },
  }),
  ...itemRoutes(KIND, { tag: TAG, name: 'Medication', schema: medicationSchema }),
];
