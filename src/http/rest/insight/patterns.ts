/** REST v1 routes for patterns (docs/spec/interface.md, section 4.3; docs/spec/decisions.md, section 4 "Patterns"). */

import { z } from 'zod';
import type { PageAsked } from '#queries/admin/page.ts';
import { decodeCursorFor, encodeCursorFor, staleCursor } from '#queries/cursor.ts';
import type { Patterns } from '#queries/insight/insight.ts';
import { labelCode } from '#src/clinical/reading/names/name.ts';
import { unitText } from '#src/clinical/reading/numbers/quantity.ts';
import { COMPARE_METHOD } from '#src/insight/compare.ts';
import { DIRECTIONS, FINDING_KINDS, type Finding } from '#src/insight/finding.ts';
import { BOUNDS } from '#src/insight/track.ts';
import { writeTitle } from '#src/insight/wording.ts';
import { AUTHOR_TYPES } from '#src/shared/access/author.ts';
import { cut } from '#src/shared/cut.ts';
import { notFound } from '#src/shared/refusal.ts';
import { readDays } from '#src/shared/time/day.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { type RouteResult, route } from '../../api/route.ts';
import { instant, LIST_QUERY, listSchema } from '../../api/schemas.ts';
import { daysInOrder } from '../days.ts';
import { type Displays, findDisplay, readDisplays } from '../displays.ts';
import { type RestRequest, shownCursor } from '../record.ts';
import { date, FIRST_DAY, LAST_DAY } from '../schemas.ts';
import { patientIn, shownId } from './finding-id.ts';
import { askFresh, group, INSIGHT_MODELS, OBSERVATIONS_NEEDED, parseCodes, warnings } from './insight.ts';

const TAG = 'Timeline and context';
const GRANT = { action: 'patterns', needs: OBSERVATIONS_NEEDED, type: 'Observation' } as const;
const SHARED = { tag: TAG, credential: 'api_key', grantToken: GRANT, models: INSIGHT_MODELS } as const;

const number = z.number().nullable();

const findingSchema = z
  .object({
    finding_id: z.string().describe('Findings with the same evidence have the same id.'),
    kind: z.enum(FINDING_KINDS),
    title: z.string().describe('The observation.'),
    codes: z
      .array(z.object({ system: z.string(), code: z.string(), display: z.string().nullable() }))
      .describe('For a correlation with a medication: the medication’s code, then the code of the values.'),
    window: z.object({ from: z.string(), to: z.string() }),
    direction: z.enum(DIRECTIONS).nullable(),
    effect: z
      .object({
        value: z.number(),
        unit: z.string().nullable(),
        low: number.describe('Ends of the 95 % interval, if the method has one.'),
        high: number,
        per_day: z.number().optional().describe('For a trend: the slope.'),
        since: z.string().optional().describe('For a change: its first value. For a medication: its start.'),
        lag_days: z.number().optional().describe('By how many days the second series follows the first.'),
      })
      .describe('Its size.'),
    confidence: z
      .number()
      .describe('1 − p of the finding’s own test: how rarely chance alone would show as much.'),
    method: z.string(),
    computed_at: instant.describe('The last change of the record that the finding includes.'),
  })
  .meta({ id: 'Finding' });

const evidenceSchema = z
  .object({
    fhir: z.string(),
    version: z.int(),
    at: z.string(),
    value: number,
    comparator: z.enum(BOUNDS).nullable().describe('The value is only known to be below or above this.'),
    unit: z.string().nullable(),
    author_type: z.enum(AUTHOR_TYPES),
    role: z.enum(['supports', 'contradicts']),
  })
  .meta({ id: 'FindingEvidence' });

const period = z
  .strictObject({ from: date.describe(FIRST_DAY), to: date.describe(LAST_DAY) })
  .superRefine(daysInOrder);

const comparison = z
  .strictObject({ code: group, a: period, b: period })
  .superRefine(({ a, b }, context) => {
    if (a.from <= b.to && b.from <= a.to)
      context.addIssue({ code: 'custom', path: ['b'], message: 'must not overlap with a' });
  })
  .meta({
    examples: [
      {
        code: '4548-4',
        a: { from: '2025-01-01', to: '2025-06-30' },
        b: { from: '2025-07-01', to: '2025-12-31' },
      },
    ],
  });

const summary = z.object({
  from: z.string(),
  to: z.string(),
  count: z.int(),
  median: number,
  min: number,
  max: number,
});

const comparedSchema = z
  .object({
    code: z.string(),
    unit: z.string().nullable(),
    a: summary,
    b: summary,
    difference: z
      .object({
        absolute: z.number().describe('How much larger the values of b are (Hodges–Lehmann).'),
        percent: number.describe('The difference in percent of the median of `a`.'),
        p_value: z.number(),
        low: z.number().describe('Ends of the 95 % interval of `absolute`.'),
        high: z.number(),
      })
      .nullable(),
    sufficient: z.boolean(),
    reason: z.string().nullable().describe('Why no difference is stated.'),
    method: z.string(),
    warnings,
  })
  .meta({ id: 'Comparison' });

const page = listSchema(evidenceSchema);
const SHORT = ' The id names the patient.';

export const PATTERN_ROUTES = [
  route({
    ...SHARED,
    method: 'GET',
    path: '/v1/patients/{patient_id}/patterns',
    operationId: 'listPatterns',
    summary: 'Find patterns in a patient’s values',
    description:
      'Trends, changes of level, runs out of range, gaps, and associations, each with a named method and its evidence. They describe observations; they don’t explain or advise.',
    query: z.strictObject(LIST_QUERY),
    answers: {
      200: {
        description: 'A page of the findings, in the order of codes',
        schema: listSchema(findingSchema).extend({ warnings }),
      },
    },
    run: (request) => list(request, request.params.patient_id, request.query),
  }),
  route({
    ...SHARED,
    method: 'GET',
    path: '/v1/patients/{patient_id}/patterns/{finding_id}',
    operationId: 'getPattern',
    summary: 'A finding',
    description:
      'Returns one finding of the list of patterns. If the record no longer supports the finding, the answer is 404.',
    answers: { 200: { description: 'The finding', schema: findingSchema } },
    run: (request) => one(request, request.params.patient_id, request.params.finding_id),
  }),
  route({
    ...SHARED,
    method: 'GET',
    path: '/v1/patients/{patient_id}/patterns/{finding_id}/evidence',
    operationId: 'listPatternEvidence',
    summary: 'The versions that a finding is based on',
    description:
      'Each entry names a version with its value, and says whether it supports or contradicts the finding.',
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page, the oldest first', schema: page } },
    run: (request) => evidence(request, request.params.patient_id, request.params.finding_id, request.query),
  }),
  route({
    ...SHARED,
    method: 'GET',
    path: '/v1/patterns/{finding_id}',
    operationId: 'getPatternById',
    summary: 'A finding, by its id only',
    description: `Like the route below the patient.${SHORT}`,
    answers: { 200: { description: 'The finding', schema: findingSchema } },
    run(request) {
      const { finding_id: id } = request.params;
      return one(request, patientIn(request, id), id);
    },
  }),
  route({
    ...SHARED,
    method: 'GET',
    path: '/v1/patterns/{finding_id}/evidence',
    operationId: 'listPatternEvidenceById',
    summary: 'The versions that a finding is based on, by its id only',
    description: `Like the route below the patient.${SHORT}`,
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page, the oldest first', schema: page } },
    run(request) {
      const { finding_id: id } = request.params;
      return evidence(request, patientIn(request, id), id, request.query);
    },
  }),
  route({
    ...SHARED,
    method: 'POST',
    path: '/v1/patients/{patient_id}/patterns/compare',
    operationId: 'comparePeriods',
    summary: 'Compare the values of two periods',
    description:
      'Read-only. If the values don’t support a statement, `sufficient` is false and `reason` says why.',
    scope: 'read',
    body: comparison,
    answers: { 200: { description: 'The comparison', schema: comparedSchema } },
    run: (request) => compare(request, request.params.patient_id, request.body),
  }),
];

async function findPatterns(request: RestRequest, patient: string): Promise<Patterns> {
  const { services, caller, incoming } = request;
  const isGone = (): boolean => incoming.socket.destroyed;
  return askFresh(request, patient, () => services.queries.patterns(caller, patient, isGone));
}

/**
 * Lists the findings. A change to the record may change their ids, so a page can continue only after a finding that still
 * exists.
 */
async function list(
  request: RestRequest,
  patient: string,
  { limit, cursor }: PageAsked,
): Promise<RouteResult> {
  const of = `patterns ${patient}`;
  const [last] = cursor === undefined ? [] : decodeCursorFor(of, cursor, z.tuple([z.string().max(64)]));
  const { findings, names, warnings: left, changed } = await findPatterns(request, patient);
  const start = last === undefined ? 0 : findings.findIndex((each) => each.finding_id === last) + 1;
  if (last !== undefined && start === 0) throw staleCursor('finding');
  const page = findings.slice(start, start + limit);
  const known = await namesFor(request, page, names);
  const data = page.map((finding) => renderFinding(request, patient, finding, known, changed));
  const end = page.at(-1);
  const next =
    end === undefined || start + limit >= findings.length ? undefined : encodeCursorFor(of, [end.finding_id]);
  const next_cursor = shownCursor(request, next);
  const body = { data, total: findings.length, next_cursor, warnings: left };
  return { status: 200, body, reads: true, shown: data.length };
}

async function one(request: RestRequest, patient: string, id: string): Promise<RouteResult> {
  const { finding, names, changed } = await findFinding(request, patient, id);
  const known = await namesFor(request, [finding], names);
  const body = renderFinding(request, patient, finding, known, changed);
  return { status: 200, body, reads: true, shown: 1 };
}

async function evidence(
  request: RestRequest,
  patient: string,
  id: string,
  { limit, cursor }: PageAsked,
): Promise<RouteResult> {
  const { finding } = await findFinding(request, patient, id);
  const of = `evidence ${id}`;
  const [from] = cursor === undefined ? [0] : decodeCursorFor(of, cursor, z.tuple([z.int().min(0)]));
  // The evidence is computed only when it is requested.
  const { evidence: all } = finding;
  const { length: total } = all;
  const next = from + limit < total ? encodeCursorFor(of, [from + limit]) : null;
  const data = all.slice(from, from + limit);
  const body = { data, total, next_cursor: shownCursor(request, next ?? undefined) };
  return { status: 200, body, reads: true, shown: data.length };
}

/**
 * Finds a finding.
 * @throws Refusal not_found (404) if the record doesn't show that finding, or no longer shows it.
 */
async function findFinding(
  request: RestRequest,
  patient: string,
  id: string,
): Promise<Pick<Patterns, 'names' | 'changed'> & { readonly finding: Finding }> {
  const { findings, names, changed } = await findPatterns(request, patient);
  const finding = findings.find((each) => shownId(request, patient, each) === id);
  if (finding === undefined) throw notFound('finding', cut(id, 64));
  return { finding, names, changed };
}

/** Returns the names of the codes in findings, taken from the record or, if it has none, from the terminology. */
async function namesFor(
  request: RestRequest,
  findings: readonly Finding[],
  names: Patterns['names'],
): Promise<Displays> {
  const codes = findings.flatMap((finding) => finding.codes);
  const unnamed = codes.filter(({ system, code }) => !names.has(`${system}|${code}`));
  const displays = await readDisplays(request, unnamed);
  return new Map(
    codes.flatMap((code) => {
      const key = `${code.system}|${code.code}`;
      const name = names.get(key) ?? findDisplay(code, displays);
      return name === undefined ? [] : [[key, name]];
    }),
  );
}

function renderFinding(
  request: RestRequest,
  patient: string,
  finding: Finding,
  names: Displays,
  changed: number,
): object {
  const { kind, codes, window, direction, effect, confidence, method } = finding;
  const named = codes.map(({ system, code }) => ({
    ...{ system, code },
    display: names.get(`${system}|${code}`) ?? null,
  }));
  const labels = named.map(
    (each) => [`${each.system}|${each.code}`, each.display ?? labelCode(each)] as const,
  );
  return {
    finding_id: shownId(request, patient, finding),
    kind,
    title: writeTitle(finding, new Map(labels), unitText),
    codes: named,
    window,
    direction,
    effect,
    confidence,
    method,
    computed_at: toInstant(changed),
  };
}

async function compare(
  request: RestRequest,
  patient: string,
  { code, a, b }: z.output<typeof comparison>,
): Promise<RouteResult> {
  const { services, caller } = request;
  const readSpanDays = ({ from, to }: typeof a) => ({ from: readDays(from).first, to: readDays(to).last });
  const what = { group: parseCodes(code), a: readSpanDays(a), b: readSpanDays(b) };
  const compared = await askFresh(request, patient, () => services.queries.comparison(caller, patient, what));
  return {
    status: 200,
    reads: true,
    shown: compared.a.count + compared.b.count,
    body: {
      code,
      unit: compared.unit,
      a: { ...a, ...compared.a },
      b: { ...b, ...compared.b },
      difference: compared.difference,
      sufficient: compared.sufficient,
      reason: compared.reason,
      method: COMPARE_METHOD,
      warnings: compared.warnings,
    },
  };
}
