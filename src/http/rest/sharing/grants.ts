/**
 * Lists the grants that applications have for a patient (docs/spec/interface.md, section 4.3; docs/spec/decisions.md, section
 * 4).
 */

import { z } from 'zod';
import type { GrantsAsked } from '#queries/consents/grants.ts';
import { cut } from '#src/shared/cut.ts';
import { isUuid } from '#src/shared/ids.ts';
import { notFound } from '#src/shared/refusal.ts';
import { grantView } from '../../api/grant-view.ts';
import { route } from '../../api/route.ts';
import { grant, LIST_QUERY, listSchema } from '../../api/schemas.ts';
import { type RestRequest, shownCursor } from '../record.ts';

const grantSchema = grant.meta({ id: 'Grant' });

/**
 * Returns the filter for the Patient: either the id of one of the project's own patients, or the pairwise id by which the
 * project's applications know another project's patient.
 * @throws Refusal not_found (404)
 */
async function patientAsked(
  { services, caller }: RestRequest,
  id: string,
): Promise<Pick<GrantsAsked, 'record' | 'patient'>> {
  const { within } = caller.sees;
  if (!isUuid(id) || (within !== undefined && within.record !== id)) throw notFound('Patient', cut(id, 64));
  const own = await services.queries.read(caller, 'Patient', id);
  if (own === undefined) return { patient: id };
  if (own.body === null) throw notFound('Patient', id);
  return { record: id };
}

/** The route for grants. */
export const GRANT_ROUTES = [
  route({
    method: 'GET',
    path: '/v1/patients/{patient_id}/grants',
    operationId: 'listGrants',
    summary: 'Grants that applications have for a patient',
    description:
      'With a key: grants to the applications of the key’s project, the newest first, including ended ones. With an access token: only grants to the calling application, and under a grant only those for its patient. `patient_id` is the id of one of the project’s patients, or the pairwise id that an application got with a token. A project doesn’t need a grant for the patients that it created.',
    tag: 'Patients',
    credential: 'api_key',
    grantToken: { action: 'grants', needs: [{ type: 'Patient', letters: 'r' }], type: null },
    models: ['resources', 'consents'],
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listSchema(grantSchema) } },
    async run(request) {
      const { services, caller, params, query } = request;
      const { project, credential } = caller.calls;
      const asked = await patientAsked(request, params.patient_id);
      const { rows, total, next } = await services.consentQueries.listGrants({
        ...query,
        ...project,
        ...('applicationId' in credential ? { application: credential.applicationId } : {}),
        ...asked,
      });
      // If there is no grant, the project's applications don't know the patient.
      if (asked.patient !== undefined && total === 0) throw notFound('Patient', asked.patient);
      const body = { data: rows.map(grantView), total, next_cursor: shownCursor(request, next) };
      return { status: 200, body, shown: 0 };
    },
  }),
];
