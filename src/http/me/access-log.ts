/**
 * Lists reads of a person's record: `…/grants/{grant_id}/access-log`, and all reads at `…/access-log` (docs/spec/interface.md,
 * section 4.6).
 */
import { z } from 'zod';
import { ACCESS_STATUSES } from '#src/shared/access/access-entry.ts';
import { accessEntrySchema, accessEntryView } from '../api/access-log-view.ts';
import { route } from '../api/route.ts';
import { listSchema } from '../api/schemas.ts';
import { daysInOrder, parseMoments } from '../rest/days.ts';
import { date } from '../rest/schemas.ts';
import { grantFor, linkFor } from './access.ts';
import { RECORD_QUERY } from './schemas.ts';

/** Filters for both lists. */
const FILTERS = {
  ...RECORD_QUERY,
  from: date.optional().describe('First day, UTC.'),
  to: date.optional().describe('Last day, UTC.'),
  status: z.enum(ACCESS_STATUSES).optional().describe('`ok`: the read showed something.'),
  action: z.string().max(60).optional().describe('Such as `read` or `search-type`.'),
  resource_type: z.string().max(60).optional().describe('Such as `Observation`.'),
};

const perGrant = z.strictObject(FILTERS).superRefine(daysInOrder);
const perRecord = z
  .strictObject({
    ...FILTERS,
    application_id: z.string().max(60).optional().describe('Only reads by this application, `app_…`.'),
  })
  .superRefine(daysInOrder);

/** Returns the filters in the form that the query function accepts. */
function makeFilters(query: z.output<typeof perRecord>) {
  const { from, to, resource_type: resourceType, application_id: application, ...asked } = query;
  return { ...asked, ...parseMoments(from, to), resourceType, application, named: true };
}

/** Routes for the access log. */
export const MY_ACCESS_LOG_ROUTES = [
  route({
    method: 'GET',
    path: '/me/patients/{patient_id}/grants/{grant_id}/access-log',
    operationId: 'listMyGrantAccessLog',
    summary: 'An application’s reads of a record, the newest first',
    description:
      'All reads under the grant, including refused ones. The list is also available after the grant has ended. A refused read can appear a moment later. The list shows no values from the record.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: ['consents', 'resources', 'projects'],
    query: perGrant,
    answers: { 200: { description: 'A page', schema: listSchema(accessEntrySchema) } },
    async run(request) {
      const { services, params, query } = request;
      const { id, record } = await grantFor(request, params.patient_id, params.grant_id, query.environment);
      const { rows, total, next } = await services.accessLogOf(record, { ...makeFilters(query), grant: id });
      return {
        status: 200,
        body: { data: rows.map(accessEntryView), total, next_cursor: next ?? null },
      };
    },
  }),
  route({
    method: 'GET',
    path: '/me/patients/{patient_id}/access-log',
    operationId: 'listMyAccessLog',
    summary: 'Who read a record, the newest first',
    description:
      'Reads by applications, by people who have the record, and by members of the organization that keeps it; with `ACCESS_LOG=all`, also reads with API keys. A refused read can appear a moment later. The list shows no values from the record.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: ['consents', 'resources', 'projects'],
    query: perRecord,
    answers: { 200: { description: 'A page', schema: listSchema(accessEntrySchema) } },
    async run(request) {
      const { services, params, query } = request;
      const { record } = await linkFor(request, params.patient_id, query.environment);
      const { rows, total, next } = await services.accessLogOf(record, makeFilters(query));
      return {
        status: 200,
        body: { data: rows.map(accessEntryView), total, next_cursor: next ?? null },
      };
    },
  }),
];
