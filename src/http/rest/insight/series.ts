/** REST v1 routes for series (docs/spec/interface.md, section 4.3; docs/spec/decisions.md, section 4 "Series"). */
import { z } from 'zod';
import { decodeCursorFor, encodeCursorFor } from '#queries/cursor.ts';
import { BUCKETS, type Bucket, computeStatistics, hasBucket, printedPoints } from '#src/insight/bucket.ts';
import { BOUNDS } from '#src/insight/track.ts';
import { beyond } from '#src/insight/warning.ts';
import { inSlices, type Steps } from '#src/shared/load/slices.ts';
import { type RouteResult, route } from '../../api/route.ts';
import { LIST_QUERY, listSchema } from '../../api/schemas.ts';
import { atMoment, PAST_QUERY, past } from '../as-of.ts';
import { dayRange, daysInOrder } from '../days.ts';
import { type Displays, findDisplay, readDisplays } from '../displays.ts';
import { type RestRequest, shownCursor } from '../record.ts';
import { date, FIRST_DAY, LAST_DAY } from '../schemas.ts';
import { askFresh, group, INSIGHT_MODELS, OBSERVATIONS_NEEDED, parseCodes, warnings } from './insight.ts';

/** Maximum number of series in a response. */
const MOST_SERIES = 20;

const codes = z
  .string({ error: 'is required, for example 4548-4' })
  .max(5_000)
  .transform((text) => text.split(','))
  .pipe(z.array(group).max(MOST_SERIES))
  .describe(
    'Codes of Observations or of their components: LOINC, or `system|code`. Commas separate series, `~` joins equivalent codes into one: `4548-4,2345-7~2339-0`.',
  );

const QUERY = {
  ...LIST_QUERY,
  limit: LIST_QUERY.limit.describe('Maximum number of series in the answer.'),
  code: codes,
  from: date.optional().describe(FIRST_DAY),
  to: date.optional().describe(LAST_DAY),
  bucket: z
    .enum(BUCKETS)
    .default('raw')
    .describe(
      '`raw`: every value. Otherwise the median of each day, week or month, according to the UTC offsets of the values.',
    ),
  ...PAST_QUERY,
  at: past.optional().describe('Another name of `as_of`.'),
};

const number = z.number().nullable();

const pointSchema = z.object({
  at: z.string().describe('As written in the resource; for a bucket, its first day.'),
  value: z.number(),
  comparator: z.enum(BOUNDS).nullable().describe('The value is only known to be below or above this.'),
  n: z.int().describe('Number of values.'),
  fhir: z
    .string()
    .describe('`Observation/<id>/_history/<version>`; for a bucket, the version with the newest value.'),
  reference_range: z.object({ low: number, high: number }).nullable(),
  versions: z.array(z.string()).optional().describe('For a bucket: every version in it.'),
});

const seriesSchema = z
  .object({
    code: z.string().describe('The first requested code.'),
    system: z.string(),
    display: z
      .string()
      .nullable()
      .describe('The name in the resource with the newest value, or else the name in the terminology.'),
    codes: z.array(z.object({ system: z.string(), code: z.string() })).describe('The equivalent codes.'),
    unit: z
      .string()
      .nullable()
      .describe('UCUM: the unit that most values have; other values were converted to it.'),
    points: z.array(pointSchema).describe('The oldest first.'),
    stats: z
      .object({
        count: z.int(),
        min: number,
        max: number,
        mean: number,
        slope: number.describe('Per day, by least squares.'),
      })
      .describe('Computed from all values, whatever the bucket.'),
    warnings,
  })
  .meta({ id: 'Series' });

const answer = listSchema(seriesSchema);

/** The request. */
interface Query {
  readonly code: readonly string[];
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly bucket: Bucket;
  readonly as_of?: string | undefined;
  readonly at?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** The index of the next series among the requested series. */
const place = z.tuple([z.int().min(1)]);

const DESCRIPTION =
  'Numeric values of Observations and their components, in one unit. Values that were entered in error or cancelled, have a modifier extension or were written by an AI are left out and counted in `warnings`.';

export const SERIES_ROUTES = [
  route({
    method: 'GET',
    path: '/v1/patients/{patient_id}/series',
    operationId: 'getSeries',
    summary: 'Values of a patient over time',
    description: DESCRIPTION,
    tag: 'Timeline and context',
    credential: 'api_key',
    grantToken: { action: 'series', needs: OBSERVATIONS_NEEDED, type: 'Observation' },
    models: INSIGHT_MODELS,
    query: z.strictObject(QUERY).superRefine(daysInOrder).superRefine(oneMoment),
    answers: { 200: { description: 'A page of the series, in the order of the codes', schema: answer } },
    run: (request) => series(request, request.params.patient_id, request.query),
  }),
  route({
    method: 'GET',
    path: '/v1/series',
    operationId: 'getSeriesOfPatient',
    summary: 'Values of a patient over time, the patient in the query',
    description: DESCRIPTION,
    tag: 'Timeline and context',
    credential: 'api_key',
    grantToken: { action: 'series', needs: OBSERVATIONS_NEEDED, type: 'Observation' },
    models: INSIGHT_MODELS,
    query: z
      .strictObject({ patient: z.string().max(64).describe('The id of the patient.'), ...QUERY })
      .superRefine(daysInOrder)
      .superRefine(oneMoment),
    answers: { 200: { description: 'A page of the series, in the order of the codes', schema: answer } },
    run: (request) => series(request, request.query.patient, request.query),
  }),
];

/** Refuses two different points in time. */
function oneMoment({ as_of: asOf, at }: Pick<Query, 'as_of' | 'at'>, context: z.RefinementCtx): void {
  if (asOf === undefined || at === undefined || asOf === at) return;
  context.addIssue({ code: 'custom', path: ['at'], message: 'is another name of as_of; send one of them' });
}

async function series(sent: RestRequest, patient: string, query: Query): Promise<RouteResult> {
  const { code, from, to, bucket, at, as_of: asOf = at, limit, cursor } = query;
  const request = await atMoment(sent, asOf);
  const { services, caller } = request;
  const list = JSON.stringify(['series', patient, code, from, to, bucket, asOf]);
  const [start] = cursor === undefined ? [0] : decodeCursorFor(list, cursor, place);
  const end = start + limit;
  const groups = code.slice(start, end).map(parseCodes);
  const asked = { patient, ...dayRange({ from, to }) };
  const read = await askFresh(request, patient, () => services.queries.series(caller, asked, groups));
  const unnamed = read.flatMap(({ name, track }) => (name === undefined ? track.codes.slice(0, 1) : []));
  const displays = await readDisplays(request, unnamed);
  const counted = read.reduce((sum, { track }) => sum + track.points.length, 0);
  const next = end < code.length ? encodeCursorFor(list, [end]) : undefined;
  const data = await inSlices(printed(read, bucket, displays));
  const rest = { total: code.length, next_cursor: shownCursor(request, next) };
  const text = `{"data":[${data}],${JSON.stringify(rest).slice(1)}`;
  return { status: 200, text, reads: true, shown: counted };
}

type Read = Awaited<ReturnType<RestRequest['services']['queries']['series']>>['told'];

/**
 * Prints the series in steps, because they may have a hundred thousand points. Each series is released from memory once it has
 * been printed.
 */
function* printed(read: NonNullable<Read>, bucket: Bucket, displays: Displays): Steps<string> {
  const data: string[] = [];
  for (let next = read.shift(); next !== undefined; next = read.shift()) {
    const { track, name, warnings: left } = next;
    const [first] = track.codes;
    const points = yield* printedPoints(track.points, bucket);
    const unplaced = track.points.filter((point) => !hasBucket(point, bucket)).length;
    const members = {
      code: first?.code,
      system: first?.system,
      display: name ?? (first === undefined ? undefined : findDisplay(first, displays)) ?? null,
      codes: track.codes,
      unit: track.unit,
      stats: computeStatistics(track.points),
      warnings: [...left, ...beyond(`left out of the points: the date doesn't name the ${bucket}`, unplaced)],
    };
    data.push(`${JSON.stringify(members).slice(0, -1)},"points":[${points}]}`);
    yield;
  }
  return data.join(',');
}
