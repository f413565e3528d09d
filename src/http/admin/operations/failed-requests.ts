/** Lists requests that failed or exceeded their rate limit, and finds a single request by id. */
import { z } from 'zod';
import type { FoundRequest } from '#queries/admin/failed-requests.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { toInstant, toMicros } from '#src/shared/time/time.ts';
import { instant } from '../../api/schemas.ts';
import { operatorRoute } from './route.ts';

const project = z.object({
  id: z.string(),
  name: z.string().nullable().describe('Null if it was deleted.'),
  organization: z.string().nullable(),
});

const about = {
  project,
  environment: z
    .enum(['sandbox', 'production'])
    .nullable()
    .describe('Null for a request about the project as a whole.'),
  method: z.string(),
  route: z.string().describe('The path with `{id}` in place of ids.'),
  status: z.int(),
  error: z.string().nullable().describe('The error’s `type`; in a group, the type of the newest error.'),
};

const failedSchema = z
  .object({
    from: instant,
    to: instant,
    hours: z
      .array(z.object({ hour: instant, failed: z.int().describe('5xx'), throttled: z.int().describe('429') }))
      .describe('Hours without failed requests are left out.'),
    data: z.array(
      z.object({
        ...about,
        requests: z.int(),
        first_at: instant,
        last_at: instant,
        request_id: z.string().describe('Id of the newest request.'),
      }),
    ),
  })
  .meta({ id: 'FailedRequests' });

const foundSchema = z
  .object({ request_id: z.string(), ...about, ms: z.number(), ts: instant })
  .meta({ id: 'FoundRequest' });

const DAY = 86_400_000_000;

/** Their routes. */
export const FAILED_REQUEST_ROUTES = [
  operatorRoute({
    method: 'GET',
    path: '/admin/operations/failed-requests',
    operationId: 'listFailedRequests',
    summary: 'Requests answered with 5xx or 429, by hour, and by project and route',
    description:
      'From the request log of all projects: requests whose caller is known. At most 100 groups, the newest first; without ids of patients, query strings and bodies.',
    query: z.strictObject({
      from: z.iso.datetime({ offset: true }).optional().describe('Default: a day before `to`.'),
      to: z.iso.datetime({ offset: true }).optional().describe('Exclusive; default: now.'),
      project: z.string().optional().describe('Only requests to this project.'),
    }),
    answers: { 200: { description: 'The counts', schema: failedSchema } },
    async run({ services, query, now }) {
      const to = query.to === undefined ? now() : toMicros(query.to);
      const from = query.from === undefined ? to - DAY : toMicros(query.from);
      if (from > to)
        throw new Refusal('invalid', {
          code: 'value',
          diagnostics: 'query.from must not be later than query.to',
          expression: 'query.from',
        });
      const asked = { from, to, project: query.project };
      const { failedHours, failedRoutes } = services.adminQueries;
      const [hours, routes] = await Promise.all([failedHours(asked), failedRoutes(asked)]);
      const body: z.input<typeof failedSchema> = {
        from: toInstant(from),
        to: toInstant(to),
        hours: hours.map(({ hour, ...counts }) => ({ hour: toInstant(hour), ...counts })),
        data: routes.map((of) => ({
          ...viewAbout(of),
          requests: of.requests,
          first_at: toInstant(of.first),
          last_at: toInstant(of.last),
          request_id: of.request_id,
        })),
      };
      return { status: 200, body };
    },
  }),
  operatorRoute({
    method: 'GET',
    path: '/admin/operations/requests/{request_id}',
    operationId: 'findRequest',
    summary: 'A request to any project, by its id',
    description:
      'The `Service-Request-Id` that a customer names. Leaves out patient ids, the query string and the body.',
    answers: { 200: { description: 'The request', schema: foundSchema } },
    async run({ services, params }) {
      const { request_id: id } = params;
      const found = await services.adminQueries.findRequest(id);
      if (found === undefined) throw notFound('request', id.slice(0, 64));
      const body: z.input<typeof foundSchema> = {
        ...{ request_id: id, ...viewAbout(found) },
        ...{ ms: Math.round(found.ms * 100) / 100, ts: toInstant(found.at) },
      };
      return { status: 200, body };
    },
  }),
];

/** Formats the members that groups and single requests have in common. */
function viewAbout(of: Omit<FoundRequest, 'ms' | 'at'>) {
  return {
    project: { id: of.project, name: of.project_name, organization: of.organization_name },
    environment: of.environment,
    method: of.method,
    route: of.route,
    status: of.status,
    error: of.error === null ? null : (JSON.parse(of.error) as { readonly type: string }).type,
  };
}
