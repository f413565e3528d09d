/**
 * Returns the caller's permissions for a patient, and when they end (docs/spec/interface.md, section 4.3;
 * docs/spec/decisions.md, section 4).
 */
import { z } from 'zod';
import { route } from '../api/route.ts';
import { grant, LIST_QUERY, listOf } from '../api/schemas.ts';
import { liveResource } from './record.ts';

const grantSchema = grant.meta({ id: 'Grant' });

/** The route of grants. */
export const GRANT_ROUTES = [
  route({
    method: 'GET',
    path: '/v1/patients/{patient_id}/grants',
    operationId: 'listGrants',
    summary: 'What the calling application may do for a patient',
    description:
      'Always empty: consents are not supported yet, and a project needs none for the patients that it created.',
    tag: 'Patients',
    credential: 'api_key',
    grantToken: 'refused',
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listOf(grantSchema) } },
    async run(request) {
      await liveResource(request, 'Patient', request.params.patient_id);
      return { status: 200, body: { data: [], total: 0, next_cursor: null } };
    },
  }),
];
