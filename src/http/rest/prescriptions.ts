/**
 * REST v1 routes for prescriptions. Prescriptions are read-only here, because they are written through FHIR
 * (docs/spec/decisions.md, section 4 "Prescriptions").
 */
import { z } from 'zod';
import { shownName } from '#src/fhir/human-name.ts';
import { isResourceType } from '#src/fhir/types.ts';
import { cut } from '#src/shared/cut.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { notFound } from '#src/shared/refusal.ts';
import { textIn } from '#src/v1/elements.ts';
import { isProhibition } from '#src/v1/lists.ts';
import { medicationNames, medicationReferred } from '#src/v1/medication.ts';
import { shownPrescription } from '#src/v1/prescription.ts';
import { route } from '../api/route.ts';
import { LIST_QUERY, listSchema, PAGED } from '../api/schemas.ts';
import { PAST_QUERY } from './as-of.ts';
import { type Kind, listItems, type Members, readItem } from './items.ts';
import { LISTING_MODELS } from './listing.ts';
import { type RestRequest, resourceIn } from './record.ts';
import { common, ids, shownCode } from './schemas.ts';

const TAG = 'Medications';
const KIND: Kind = {
  type: 'MedicationRequest',
  path: 'prescriptions',
  fields: shownPrescription,
  named: { type: 'Medication', readReference: medicationReferred, as: medicationNames },
  refine: withPrescribers,
};

/** Statuses of R4's MedicationRequest, except `entered-in-error`, which lists leave out. */
const prescriptionStatus = z.enum([
  'active',
  'on-hold',
  'cancelled',
  'completed',
  'stopped',
  'draft',
  'unknown',
]);

const prescriptionSchema = z
  .object({
    ...ids,
    ...shownCode,
    status: z.string().nullable(),
    dosage: z.string().nullable(),
    start: z.string().nullable().describe('The first day on which to take it, if the dosage has bounds.'),
    end: z.string().nullable().describe('The last day on which to take it, if the dosage has bounds.'),
    note: z.string().nullable(),
    prescribed_on: z.string().nullable(),
    prescriber: z
      .string()
      .nullable()
      .describe('The name of the prescriber; a reference if the caller isn’t allowed to see the name.'),
    intent: z.string().nullable().describe('`order`, `plan`, `proposal` or another FHIR intent.'),
    quantity: z.object({ value: z.number().nullable(), unit: z.string().nullable() }).nullable(),
    refills: z.int().nullable().describe('How many times it can be dispensed again.'),
    ...common,
  })
  .meta({ id: 'Prescription' });

export const PRESCRIPTION_ROUTES = [
  route({
    method: 'GET',
    path: '/v1/patients/{patient_id}/prescriptions',
    operationId: 'listPrescriptions',
    summary: 'A patient’s prescriptions, the newest first',
    description: `${PAGED} Prescriptions that were entered in error, and requests not to give a medicine, are left out. To write prescriptions, use FHIR’s MedicationRequest.`,
    tag: TAG,
    credential: 'api_key',
    grantToken: {
      action: 'search-type',
      needs: [{ type: 'MedicationRequest', letters: 's' }],
      type: 'MedicationRequest',
    },
    models: LISTING_MODELS,
    query: z.strictObject({ ...LIST_QUERY, ...PAST_QUERY, status: prescriptionStatus.optional() }),
    answers: { 200: { description: 'A page', schema: listSchema(prescriptionSchema) } },
    run(request) {
      const { status, ...page } = request.query;
      const by = status === undefined ? [] : [['status', status] as const];
      return listItems(request, KIND, request.params.patient_id, { by, ...page });
    },
  }),
  route({
    method: 'GET',
    path: '/v1/patients/{patient_id}/prescriptions/{prescription_id}',
    operationId: 'getPrescription',
    summary: 'Read a prescription',
    description:
      'Returns the current version. A deleted prescription returns 404; FHIR’s history still has it.',
    tag: TAG,
    credential: 'api_key',
    grantToken: {
      action: 'read',
      needs: [{ type: 'MedicationRequest', letters: 'r' }],
      type: 'MedicationRequest',
      id: 'prescription_id',
    },
    query: z.strictObject(PAST_QUERY),
    answers: { 200: { description: 'The prescription', schema: prescriptionSchema } },
    run(request) {
      const { patient_id: patient, prescription_id: id } = request.params;
      return readItem(request, KIND, id, (resource, of) => {
        if (of !== patient || isProhibition(resource)) throw notFound('MedicationRequest', cut(id, 64));
      });
    },
  }),
];

/**
 * Matches a prescriber without a name in printed members. It can't match inside a text, where a quote is preceded by a
 * backslash.
 */
const REFERRED = /"prescriber":"([A-Z][A-Za-z]+\/[0-9a-f-]{36})(?:\/_history\/\d+)?"/g;

/** Returns the members of prescriptions, with the prescribers' names. */
async function withPrescribers(request: RestRequest, all: readonly Members[]): Promise<readonly Members[]> {
  const texts = all.map((members) =>
    typeof members === 'string' ? members : JSON.stringify({ prescriber: members.prescriber }),
  );
  const references = new Set(texts.flatMap((each) => [...each.matchAll(REFERRED)].map(([, to = '']) => to)));
  const names = new Map<string, string>();
  await Promise.all(
    [...references].map(async (reference) => {
      const name = await readName(request, reference);
      if (name !== undefined) names.set(reference, name);
    }),
  );
  if (names.size === 0) return all;
  return all.map((members) => {
    if (typeof members !== 'string') {
      const name = names.get(/^[^/]+\/[^/]+/.exec(textIn(members.prescriber) ?? '')?.[0] ?? '');
      return name === undefined ? members : { ...members, prescriber: name };
    }
    return members.replace(REFERRED, (whole, reference: string) => {
      const name = names.get(reference);
      return name === undefined ? whole : `"prescriber":${JSON.stringify(name)}`;
    });
  });
}

/** Returns the name of the person or organization that a reference points to; undefined if the caller can't see it. */
async function readName({ services, caller }: RestRequest, reference: string): Promise<string | undefined> {
  const [type = '', id = ''] = reference.split('/');
  if (!isResourceType(type)) return undefined;
  const found = await services.queries.read(caller, type, id);
  if (found === undefined || found.body === null) return undefined;
  const { name, practitioner }: JsonObject = resourceIn(found.body);
  return shownName(name) ?? textIn(name) ?? displayIn(practitioner);
}

function displayIn(reference: JsonObject[string] | undefined): string | undefined {
  return reference !== null && typeof reference === 'object' && 'display' in reference
    ? (textIn(reference.display) ?? undefined)
    : undefined;
}
