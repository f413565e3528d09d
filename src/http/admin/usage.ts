/** `GET /admin/projects/{project_id}/usage`: a project's daily usage. */
import { z } from 'zod';
import { Refusal } from '#src/shared/refusal.ts';
import { route } from '../api/route.ts';
import { environment, listSchema } from '../api/schemas.ts';
import { projectFor } from './access.ts';

const day = z.object({
  date: z.iso.date().describe('UTC.'),
  environment,
  requests: z.int(),
  client_errors: z
    .int()
    .nullable()
    .describe(
      'Number of requests that were refused (4xx). Null if not recorded, because an earlier version ran that day.',
    ),
  server_errors: z
    .int()
    .nullable()
    .describe('Number of requests that failed (5xx). Null if `client_errors` is null.'),
  reads: z.int().describe('Number of requests that can’t change anything.'),
  writes: z.int().describe('Number of requests that can change something, whatever the answer was.'),
  storage_bytes: z.int().describe('Bytes of the events written on that day.'),
});

/** A date; dates before 1970 are refused. */
const date = z.iso.date('must be a date').refine((text) => text >= '1970', 'must be a date since 1970');

/** The maximum length of the range and its default, in days. */
const LONGEST = 366;
const DEFAULT = 30;
const DAY = 86_400_000;

const dateBefore = (date: string, days: number): string =>
  new Date(Date.parse(date) - days * DAY).toISOString().slice(0, 10);

/** Routes of usage. */
export const USAGE_ROUTES = [
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/usage',
    operationId: 'getUsage',
    summary: 'Usage of a project, by day and environment',
    description:
      'Requests, errors, reads and writes made with its credentials, and storage as bytes of the events written; days without any use are left out. At most 366 days at once.',
    tag: 'Projects',
    credential: 'identity',
    grantToken: 'refused',
    query: z.strictObject({
      from: date.optional().describe('First day; default: 29 days before `to`.'),
      to: date.optional().describe('Last day; default: today.'),
    }),
    answers: { 200: { description: 'Days, oldest first', schema: listSchema(day) } },
    async run(request) {
      const project = await projectFor(request, request.params.project_id, 'member');
      const to = request.query.to ?? new Date().toISOString().slice(0, 10);
      const from = request.query.from ?? dateBefore(to, DEFAULT - 1);
      if (from > to || from < dateBefore(to, LONGEST - 1)) throw badRange(from > to);
      const days = await request.services.adminQueries.usage(project.id, from, to);
      const data = days.map(({ stored, ...row }) => ({ ...row, storage_bytes: stored }));
      return { status: 200, body: { data, total: data.length, next_cursor: null } };
    },
  }),
];

function badRange(reversed: boolean): Refusal {
  const fault = (name: string, diagnostics: string) =>
    ({ code: 'value', diagnostics, expression: `query.${name}` }) as const;
  if (reversed)
    return new Refusal('invalid', [
      fault('from', 'from must not be after to'),
      fault('to', 'to must not be before from'),
    ]);
  return new Refusal('invalid', fault('from', `from must be at most ${LONGEST} days before to`));
}
