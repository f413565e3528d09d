/** `GET /admin/projects/{project_id}/logs`: a project's requests, without clinical content. */
import { z } from 'zod';
import type { RequestRow, WrittenRow } from '#queries/admin/traffic.ts';
import { tenantId } from '#src/shared/access/caller.ts';
import { suffices, TO_READ } from '#src/shared/access/member.ts';
import { notFound } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { type ApiRequest, route } from '../api/route.ts';
import { environment, instant, LIST_QUERY, listSchema } from '../api/schemas.ts';
import { projectFor } from './access.ts';
import { listed } from './answers.ts';
import { PERIOD_QUERY, periodIn, periodInOrder } from './period.ts';
import { noteReads, requireOpenOnPages } from './record-reads.ts';

const entry = z.object({
  request_id: z.string().describe('The answer’s `Service-Request-Id`.'),
  ts: instant,
  environment: environment.nullable().describe('Null for a request about the project as a whole.'),
  key_id: z.string().nullable(),
  application_id: z.string().nullable().describe('The application, if the request had an access token.'),
  identity: z.string().nullable().describe('Issuer and subject of the ID token.'),
  method: z.string(),
  path: z
    .string()
    .describe(
      'Without the query string; `…` replaces segments that are neither an id of this service nor part of a route.',
    ),
  status: z.int(),
  ms: z.number().describe('Duration in milliseconds.'),
  error: z
    .object({
      type: z.string().describe('As in the error that was returned.'),
      fields: z
        .array(z.object({ field: z.string(), code: z.string() }))
        .describe('At most 20, without their texts; `…` replaces a name that isn’t part of the interfaces.'),
    })
    .nullable()
    .describe('Why the request was refused; null if it succeeded, and in older entries.'),
});

const detailed = entry.extend({
  events: z
    .array(
      z.object({
        version: z.string().describe('`Type/id/_history/n`'),
        patient: z.string().nullable().describe('Id of the record; null for the directory.'),
        operation: z.enum(['create', 'update', 'delete']),
        event_id: z.string().describe('The version’s event, which `…/events/{event_id}` shows to auditors.'),
      }),
    )
    .nullable()
    .describe(
      'The versions that the request wrote, at most 1,000, except versions in purged records. Null if the caller’s role doesn’t allow reading the environment’s records, and on the gateway for production without `X-Service-Reason`.',
    ),
});

function entryView({ id, created_at, error, ...row }: RequestRow): z.input<typeof entry> {
  const parsed = error === null ? null : (JSON.parse(error) as z.input<typeof entry>['error']);
  return { request_id: id, ts: toInstant(created_at), ...row, error: parsed };
}

function eventView({ type, id, version, patient, operation, event }: WrittenRow) {
  const known = operation.toLowerCase() as 'create' | 'update' | 'delete';
  return { version: `${type}/${id}/_history/${version}`, patient, operation: known, event_id: event };
}

/**
 * Returns whether a page requests the details of a production request without giving a reason. The log entry itself contains
 * no record content.
 */
function lacksReason(
  { visitor }: Pick<ApiRequest, 'visitor'>,
  of: NonNullable<RequestRow['environment']>,
): boolean {
  return of === 'production' && visitor?.hasReason === false;
}

/** `404`, or `4xx` for a whole class. */
const status = z
  .string()
  .regex(/^[1-5](?:\d\d|xx)$/, 'must be a status such as 404, or a class such as 4xx')
  .transform((text): readonly [number, number] => [
    Number(text.replace('xx', '00')),
    Number(text.replace('xx', '99')),
  ]);

/** Routes for the request log. */
export const LOG_ROUTES = [
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/logs',
    operationId: 'listRequests',
    summary: 'Requests to a project, newest first',
    description:
      'An entry appears a second or two after its request was answered, and is kept for 30 days by default. A search covers the newest 1,000,000 entries of its period (`from`, `to`), and `total` counts the matches among them, once, for the first page. Entries have no query strings, bodies, headers or credentials.',
    tag: 'Projects',
    credential: 'identity',
    grantToken: 'refused',
    query: z
      .strictObject({
        ...LIST_QUERY,
        request_id: z.string().max(64).optional(),
        key: z.string().max(64).optional().describe('Id of an API key.'),
        application: z.string().max(64).optional().describe('Id of an application.'),
        environment: environment.optional(),
        status: status.optional().describe('`404`, or `4xx` for a class.'),
        path: z.string().max(500).optional().describe('The beginning of the path.'),
        method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).optional(),
        ...PERIOD_QUERY,
      })
      .superRefine(periodInOrder),
    answers: { 200: { description: 'A page of the log', schema: listSchema(entry) } },
    async run(request) {
      const { services, params, query } = request;
      const project = await projectFor(request, params.project_id, 'member');
      const { limit, cursor } = query;
      const page = await services.adminQueries.requests(project.id, {
        limit,
        cursor,
        environment: query.environment,
        requestId: query.request_id,
        keyId: query.key,
        applicationId: query.application,
        statuses: query.status,
        path: query.path,
        method: query.method,
        ...periodIn(query),
      });
      return listed(page, entryView);
    },
  }),
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/logs/{service_request_id}',
    operationId: 'getRequest',
    summary: 'A request to a project, with the versions that it wrote',
    description:
      'The entry of the request log, and the versions of resources that the request wrote in the project’s records and directory.',
    tag: 'Projects',
    credential: 'identity',
    grantToken: 'refused',
    models: ['projects', 'history'],
    answers: { 200: { description: 'The request', schema: detailed } },
    async run(request) {
      const { services, params } = request;
      const project = await projectFor(request, params.project_id, 'member');
      const found = await services.adminQueries.request(project.id, params.service_request_id);
      if (found === undefined) throw notFound('request', params.service_request_id.slice(0, 60));
      const { environment: of } = found;
      if (of === null || !suffices(project.role, TO_READ[of]) || lacksReason(request, of))
        return { status: 200, body: { ...entryView(found), events: null } };
      requireOpenOnPages(request, of);
      const events = await services.adminQueries.written(
        tenantId({ project: project.id, environment: of }),
        found,
      );
      const counts = new Map<string, number>();
      for (const { patient } of events)
        if (patient !== null) counts.set(patient, (counts.get(patient) ?? 0) + 1);
      const kind = { environment: of, action: 'history-system', resourceType: null };
      await noteReads(
        request,
        kind,
        [...counts].map(([record, count]) => ({ record, count })),
      );
      return { status: 200, body: { ...entryView(found), events: events.map(eventView) } };
    },
  }),
];
