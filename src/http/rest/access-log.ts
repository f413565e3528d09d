/** Who read a patient's record (docs/spec/decisions.md, section 4, "Access-log entry"). */
import { z } from 'zod';
import type { AccessRow } from '#queries/access-log.ts';
import { ACCESS_STATUSES } from '#src/shared/access-entry.ts';
import { toInstant } from '#src/shared/time.ts';
import { route } from '../api/route.ts';
import { instant, LIST_QUERY, listOf } from '../api/schemas.ts';
import { requirePatient } from './people.ts';

const entrySchema = z
  .object({
    id: z.string(),
    ts: instant,
    action: z
      .string()
      .describe(
        'What was done, such as `read` or `search-type`. `token_reuse`: a refresh token or code was used a second time.',
      ),
    resource_type: z.string().nullable(),
    resource_id: z.string().nullable(),
    status: z.enum(ACCESS_STATUSES),
    count: z
      .int()
      .nullable()
      .describe('Resources of the patient that the answer showed; null if it was streamed.'),
    purpose: z.string().nullable().describe('What the grant says it is for.'),
    actor: z.string().nullable().describe('The name of the application, key or member.'),
    actor_ref: z
      .string()
      .describe('`application/app_…`, `key/key_…`, or `person/` with `self`, `representative` or `member`.'),
    request_id: z.string(),
  })
  .meta({ id: 'AccessLogEntry' });

function entryView(row: AccessRow): z.input<typeof entrySchema> {
  return {
    id: row.id,
    ts: toInstant(row.at),
    action: row.action,
    resource_type: row.resource_type,
    resource_id: row.resource_id,
    status: row.status,
    count: row.count,
    purpose: row.purpose,
    actor: row.actor,
    actor_ref: row.actor_kind === 'person' ? `person/${row.role}` : `${row.actor_kind}/${row.actor_id}`,
    request_id: row.request_id,
  };
}

/** The route. */
export const ACCESS_LOG_ROUTES = [
  route({
    method: 'GET',
    path: '/v1/patients/{patient_id}/access-log',
    operationId: 'listAccessLog',
    summary: 'Who read a patient’s record, the newest first',
    description:
      'Reads of applications under a grant and of members of the organization; with `ACCESS_LOG=all` also those with API keys. Refused reads may appear a moment later. The list has no values of the record.',
    tag: 'Patients and consent',
    credential: 'api_key',
    grantToken: 'refused',
    models: ['resources', 'history', 'projects'],
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listOf(entrySchema) } },
    async run(request) {
      const { params, query, services } = request;
      await requirePatient(request, params.patient_id);
      const { rows, total, next } = await services.accessLogOf(params.patient_id, query);
      return { status: 200, body: { data: rows.map(entryView), total, next_cursor: next ?? null } };
    },
  }),
];
