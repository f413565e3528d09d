/** Shows operators database sizes and slow requests. */
import { z } from 'zod';
import { toInstant } from '#src/shared/time/time.ts';
import { instant } from '../../api/schemas.ts';
import { operatorRoute } from './route.ts';

const bytes = z.int();
const documents = z.object({ count: z.int(), bytes }).nullable();

const sizesSchema = z
  .object({
    database_bytes: bytes,
    log_bytes: bytes
      .nullable()
      .describe('Size of the events in the database; null if another store has them.'),
    documents: documents.describe('Content of documents, as of the newest sample.'),
    schemas: z.array(
      z.object({
        name: z.string().describe('A read model, `log`, or tables that aren’t derived.'),
        bytes,
        tables: z.array(
          z.object({
            name: z.string(),
            bytes: bytes.describe('With indexes.'),
            rows: z.int().nullable().describe('An estimate.'),
          }),
        ),
      }),
    ),
    samples: z
      .array(
        z.object({
          date: z.iso.date(),
          database_bytes: bytes,
          schemas: z.record(z.string(), bytes),
          documents,
        }),
      )
      .describe('One sample per day; the newest 90, oldest first.'),
  })
  .meta({ id: 'Sizes' });

const round = (of: number): number => Math.round(of * 100) / 100;

const ms = z.number().describe('Milliseconds.');

const slowSchema = z
  .object({
    from: instant.describe('A day ago, or later if there were more than 50,000 requests.'),
    requests: z.int().describe('Number of requests that were looked at.'),
    data: z.array(
      z.object({
        method: z.string(),
        route: z.string().describe('The path with `{id}` in place of ids.'),
        requests: z.int(),
        p50_ms: ms,
        p95_ms: ms,
        max_ms: ms,
        slowest: z.object({
          request_id: z.string(),
          project_id: z.string(),
          status: z.int(),
          ts: instant,
        }),
      }),
    ),
  })
  .meta({ id: 'SlowRequests' });

/** Their routes. */
export const SIZE_ROUTES = [
  operatorRoute({
    method: 'GET',
    path: '/admin/operations/sizes',
    operationId: 'getSizes',
    summary: 'Sizes of the database, its tables and the documents, and how they grew',
    description: 'Shows the tables as they are now, including their indexes. Samples are taken once a day.',
    answers: { 200: { description: 'Sizes in bytes', schema: sizesSchema } },
    async run({ services }) {
      const { database, schemas, samples } = await services.adminQueries.sizes();
      const body: z.input<typeof sizesSchema> = {
        database_bytes: database,
        log_bytes: schemas.find(({ name }) => name === 'log')?.bytes ?? null,
        documents: samples.at(-1)?.documents ?? null,
        schemas: schemas.map((schema) => ({ ...schema, tables: [...schema.tables] })),
        samples: samples.map(({ day, ...sample }) => ({
          date: day,
          database_bytes: sample.database,
          schemas: sample.schemas,
          documents: sample.documents,
        })),
      };
      return { status: 200, body };
    },
  }),
  operatorRoute({
    method: 'GET',
    path: '/admin/operations/slow-requests',
    operationId: 'listSlowRequests',
    summary: 'The slowest routes of the last day, by their 95th percentile',
    description:
      'From the request log of all projects: without ids of patients, query strings and bodies. At most 50 routes.',
    answers: { 200: { description: 'The slowest first', schema: slowSchema } },
    async run({ services }) {
      const { from, requests, routes } = await services.adminQueries.slowRoutes();
      const data = routes.map(({ method, route, slowest, ...times }) => ({
        method,
        route,
        requests: times.requests,
        p50_ms: round(times.p50),
        p95_ms: round(times.p95),
        max_ms: round(times.max),
        slowest: {
          request_id: slowest.request_id,
          project_id: slowest.project,
          status: slowest.status,
          ts: toInstant(slowest.at),
        },
      }));
      return { status: 200, body: { from: toInstant(from), requests, data } };
    },
  }),
];
