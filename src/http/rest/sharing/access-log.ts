/** Lists the reads of a patient's record (docs/spec/decisions.md, section 4, "Access-log entry"). */
import { z } from 'zod';
import { accessEntrySchema, accessEntryView } from '../../api/access-log-view.ts';
import { route } from '../../api/route.ts';
import { LIST_QUERY, listSchema } from '../../api/schemas.ts';
import { requirePatient } from '../people.ts';

export const ACCESS_LOG_ROUTES = [
  route({
    method: 'GET',
    path: '/v1/patients/{patient_id}/access-log',
    operationId: 'listAccessLog',
    summary: 'Who read a patient’s record, the newest first',
    description:
      'Reads by applications under a grant and by members of the organization; with `ACCESS_LOG=all`, also reads with API keys. Refused reads can appear a moment later. The list shows no values from the record, and reading the list leaves no entry.',
    tag: 'Patients and consent',
    credential: 'api_key',
    grantToken: 'refused',
    isUnlogged: true,
    models: ['resources', 'history', 'projects'],
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listSchema(accessEntrySchema) } },
    async run(request) {
      const { params, query, services } = request;
      await requirePatient(request, params.patient_id);
      const { rows, total, next } = await services.accessLogOf(params.patient_id, query);
      return { status: 200, body: { data: rows.map(accessEntryView), total, next_cursor: next ?? null } };
    },
  }),
];
