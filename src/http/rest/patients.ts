/** REST v1 routes for patients. */
import { z } from 'zod';
import { settleNarrative } from '#src/fhir/narrative.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { shownPatient, toPatient, withDemographics } from '#src/v1/patient.ts';
import { readIfMatch } from '../answer/conditions.ts';
import { type RouteResult, route } from '../api/route.ts';
import { LIST_QUERY, listSchema, PAGED } from '../api/schemas.ts';
import { atMoment, PAST_QUERY } from './as-of.ts';
import { namingInputs, warningsIn, writtenSchema } from './inputs.ts';
import { LIST_MODELS, listRecords } from './list.ts';
import { buildCriteria, FILTERS } from './patient-search.ts';
import {
  createdAt,
  makeCommandContext,
  type RestRequest,
  renderRecord,
  resourceIn,
  shownRecords,
  shownResource,
  writtenBody,
} from './record.ts';
import { AUTHOR, authorType, common, date, IF_MATCH, ids, optional, system, text } from './schemas.ts';

const TAG = 'Patients';

const patientSchema = z
  .object({
    ...ids,
    given: z.string().nullable(),
    family: z.string().nullable(),
    birth_date: z.string().nullable(),
    gender: z.string().nullable(),
    identifiers: z.array(z.object({ system: z.string().nullable(), value: z.string() })),
    ...common,
  })
  .meta({ id: 'Patient' });

const writtenPatientSchema = writtenSchema(patientSchema, 'WrittenPatient');

const demographics = z
  .strictObject({
    given: optional(text),
    family: optional(text),
    birth_date: optional(date),
    gender: optional(z.enum(['male', 'female', 'other', 'unknown'])),
    identifiers: optional(z.array(z.strictObject({ system: optional(system), value: text })).max(100)),
    author_type: authorType,
  })
  .superRefine(({ given, family }, context) => {
    if (given === undefined && family === undefined)
      context.addIssue({ code: 'custom', path: ['family'], message: 'provide `family` or `given`' });
  })
  .meta({
    examples: [{ given: 'Nora', family: 'Lind', birth_date: '1961-05-14', gender: 'female' }],
  });

/** How many times a replacement is tried if others write at the same time. */
const TRIES = 5;

/**
 * Replaces demographics. Elements that v1 does not show are kept.
 * @throws Refusal 404 409 412 422
 */
async function replace(
  request: RestRequest & { readonly body: z.output<typeof demographics> },
  id: string,
): Promise<RouteResult> {
  const { services, body } = request;
  const { author_type, ...given } = body;
  const command = makeCommandContext(request, author_type);
  const required = readIfMatch(request.header);
  for (let tries = 1; ; tries += 1) {
    const found = await shownResource(request, 'Patient', id);
    const created = await createdAt(request, found);
    const before = resourceIn(found.body);
    const value = settleNarrative(before, withDemographics(before, given));
    try {
      const written = await namingInputs(
        services.commands.update(
          command,
          'Patient',
          { id },
          { value, exact: false, madeOf: before },
          required === undefined || required === '*' ? found.version : required,
        ),
      );
      const { result, position } = written;
      const shown = {
        type: 'Patient',
        id,
        patient: id,
        version: result.version,
        created,
        updated: result.lastUpdated ?? '',
        author: command.authorship,
      } as const;
      const stored = writtenBody(result);
      const record = renderRecord(shown, shownPatient(stored));
      return { status: 200, body: { ...record, ...warningsIn(request, stored, result) }, position };
    } catch (error) {
      const moved = error instanceof Refusal && error.kind === 'precondition_failed';
      if (!moved || tries === TRIES || typeof required === 'number') throw error;
    }
  }
}

export const PATIENT_ROUTES = [
  route({
    method: 'POST',
    path: '/v1/patients',
    operationId: 'createPatient',
    summary: 'Create a patient',
    description:
      'Creates a Patient in the key’s project and environment; all other resources of the record refer to it.',
    tag: TAG,
    credential: 'api_key',
    grantToken: 'refused',
    needs: [{ type: 'Patient', letters: 'c' }],
    scope: 'write',
    headers: AUTHOR,
    body: demographics,
    answers: { 201: { description: 'The patient', schema: writtenPatientSchema } },
    async run(request) {
      const { services, body } = request;
      const { author_type, ...given } = body;
      const command = makeCommandContext(request, author_type);
      const { result, position } = await namingInputs(
        services.commands.create(command, 'Patient', { value: toPatient(given), exact: false }),
      );
      const { id, version, lastUpdated = '' } = result;
      const times = { version, created: lastUpdated, updated: lastUpdated };
      const shown = { type: 'Patient', id, patient: id, ...times, author: command.authorship } as const;
      const stored = writtenBody(result);
      return {
        status: 201,
        headers: { Location: `${services.config.baseUrl}/v1/patients/${id}` },
        body: { ...renderRecord(shown, shownPatient(stored)), ...warningsIn(request, stored, result) },
        position,
      };
    },
  }),
  route({
    method: 'GET',
    path: '/v1/patients',
    operationId: 'listPatients',
    summary: 'Patients that the project sees, the newest first; under a grant, only its patient',
    description: `${PAGED} If you send several filters, a patient must match all of them.`,
    tag: TAG,
    credential: 'api_key',
    grantToken: { action: 'search-type', needs: [{ type: 'Patient', letters: 's' }], type: 'Patient' },
    models: LIST_MODELS,
    query: z.strictObject({ ...LIST_QUERY, ...FILTERS }),
    otherwise:
      'for other searches use the FHIR interface, for example GET /fhir/R4/Patient?name=Lind&gender=female',
    answers: { 200: { description: 'A page', schema: listSchema(patientSchema) } },
    run(request) {
      const { limit, cursor, ...asked } = request.query;
      const criteria = buildCriteria(asked);
      return listRecords(request, { type: 'Patient', criteria, limit, cursor }, shownPatient);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/patients/{patient_id}',
    operationId: 'getPatient',
    summary: 'A patient',
    description: 'Returns the current version. A deleted patient returns 404; FHIR’s history still has it.',
    tag: TAG,
    credential: 'api_key',
    grantToken: {
      action: 'read',
      needs: [{ type: 'Patient', letters: 'r' }],
      type: 'Patient',
      id: 'patient_id',
    },
    query: z.strictObject(PAST_QUERY),
    answers: { 200: { description: 'The patient', schema: patientSchema } },
    async run(sent) {
      const request = await atMoment(sent, sent.query.as_of);
      const found = await shownResource(request, 'Patient', request.params.patient_id);
      const [body] = await shownRecords(request, [found], shownPatient);
      return { status: 200, body };
    },
  }),
  route({
    method: 'PUT',
    path: '/v1/patients/{patient_id}',
    operationId: 'replacePatient',
    summary: 'Replace a patient’s demographics',
    description:
      "Members that you leave out are removed. Elements of the Patient that these members don't cover are kept. If the narrative would become wrong, a generated one is dropped; otherwise the change is refused.",
    tag: TAG,
    credential: 'api_key',
    grantToken: {
      action: 'update',
      needs: [{ type: 'Patient', letters: 'u' }],
      type: 'Patient',
      id: 'patient_id',
      writes: true,
    },
    scope: 'write',
    headers: { ...AUTHOR, ...IF_MATCH },
    body: demographics,
    showsStored: true,
    answers: { 200: { description: 'The patient', schema: writtenPatientSchema } },
    run: (request) => replace(request, request.params.patient_id),
  }),
];
