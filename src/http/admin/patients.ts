/** Routes for a project's patients, their records as of any given time, and the consents given to its applications. */
import { z } from 'zod';
import type { PatientRow } from '#queries/admin/patients.ts';
import type { GrantRow } from '#queries/consents/grants.ts';
import { filling, requireFilled } from '#src/shared/access/caller.ts';
import { TO_READ } from '#src/shared/access/member.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { faultOfMoment, type Moment, parseMoment } from '#src/shared/time/moment.ts';
import { type Micros, toMicros } from '#src/shared/time/time.ts';
import { FHIR_JSON } from '../answer/answer.ts';
import { grantView } from '../api/grant-view.ts';
import { route } from '../api/route.ts';
import { environment, grant, instant, LIST_QUERY, listSchema, PAGED } from '../api/schemas.ts';
import { projectFor, requireRole } from './access.ts';
import { listed, toInstantOrNull } from './answers.ts';
import { findEnvironment } from './record/open-record.ts';
import { noteReads, requireOpenOnPages } from './record-reads.ts';

const TAG = 'Patients';

const inEnvironment = {
  environment: environment
    .default('sandbox')
    .describe('In production, this requires the role auditor, admin or owner.'),
};

const patientSchema = z.object({
  id: z.string(),
  given: z.string().nullable(),
  family: z.string().nullable(),
  birth_date: z.string().nullable(),
  gender: z.string().nullable(),
  version: z.int(),
  created_at: instant,
  updated_at: instant,
  fhir: z.string().describe('`Patient/<id>`'),
});

/** The demographics that lists show. */
interface Demographics {
  readonly name?: readonly { readonly given?: readonly string[]; readonly family?: string }[];
  readonly birthDate?: string;
  readonly gender?: string;
}

function patientView(row: PatientRow): z.input<typeof patientSchema> {
  const { name: [first] = [], birthDate, gender } = JSON.parse(row.body) as Demographics;
  return {
    id: row.id,
    given: first?.given?.join(' ') ?? null,
    family: first?.family ?? null,
    birth_date: birthDate ?? null,
    gender: gender ?? null,
    version: row.version,
    created_at: toInstantOrNull(row.created_at) ?? '',
    updated_at: toInstantOrNull(row.last_updated) ?? '',
    fhir: `Patient/${row.id}`,
  };
}

/** Why a grant ended: one of the reasons in `consent.revoked`, or because it expired. */
const END_REASONS = [
  'patient',
  'replaced',
  'link_ended',
  'application_deleted',
  'platform',
  'patient_purged',
  'expired',
] as const;

/** A grant with its patient, and the reason why it ended. */
const consentSchema = grant.extend({
  patient: z.string().describe('The pairwise id under which the application knows the patient.'),
  end_reason: z
    .enum(END_REASONS)
    .nullable()
    .describe('Null while it is active. Otherwise as in `consent.revoked`, or `expired`.'),
});

const consentView = (row: GrantRow): z.input<typeof consentSchema> => ({
  ...grantView(row),
  patient: row.patient,
  end_reason:
    row.status === 'expired' ? 'expired' : (END_REASONS.find((each) => each === row.end_reason) ?? null),
});

const bundleSchema = z.looseObject({
  resourceType: z.literal('Bundle'),
  type: z.literal('collection'),
  timestamp: instant.describe('When the patient’s last change was recorded.'),
  entry: z.array(z.looseObject({ fullUrl: z.string(), resource: z.looseObject({}) })),
});

/** Now: later than any event. */
const NOW: Moment = { kind: 'time', micros: Number.MAX_SAFE_INTEGER };

/**
 * Parses a point in time.
 * @throws Refusal invalid (422) if it is invalid or in the future
 */
function parseAt(at: string | undefined, now: Micros): Moment {
  if (at === undefined) return NOW;
  const moment = parseMoment(at);
  const wrong = (what: string): Refusal =>
    new Refusal('invalid', { code: 'value', diagnostics: `query.at ${what}`, expression: 'query.at' });
  if (moment?.kind !== 'time')
    throw wrong(
      faultOfMoment(at) ?? 'must be a date, or a date-time with a time zone, such as 2026-03-01T09:30:00Z',
    );
  // The current day is allowed, because it has already begun.
  if (toMicros(at.includes('T') ? at : `${at}T00:00:00Z`) > now) throw wrong('is in the future');
  return moment;
}

/** Routes of patients. */
export const PATIENT_ROUTES = [
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/patients',
    operationId: 'listProjectPatients',
    summary: 'Patients of a project, the newest first',
    description: PAGED,
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    models: ['projects', 'resources'],
    query: z.strictObject({ ...LIST_QUERY, ...inEnvironment }),
    answers: { 200: { description: 'A page', schema: listSchema(patientSchema) } },
    async run(request) {
      const { services, params, query } = request;
      const {
        id: project,
        role,
        filling: isFilling,
      } = await projectFor(request, params.project_id, 'member');
      requireRole(role, TO_READ[query.environment]);
      const tenant = { project, environment: query.environment };
      request.concerns(project, query.environment);
      requireOpenOnPages(request, query.environment);
      requireFilled(filling(tenant, isFilling));
      const page = await services.adminQueries.patients(tenant, query);
      await noteReads(
        request,
        { environment: query.environment, action: 'search-type', resourceType: 'Patient' },
        page.rows.map(({ id }) => ({ record: id, count: 1 })),
      );
      return listed(page, patientView);
    },
  }),
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/patients/{patient_id}/record',
    operationId: 'getPatientRecord',
    summary: 'A patient’s record as a Bundle, now or at a given time',
    description:
      'Computed from the record’s events, without deleted resources. In production, this requires the role auditor, admin or owner; without such a role, the answer is 404.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    models: ['projects', 'resources'],
    query: z.strictObject({
      at: z
        .string()
        .max(60)
        .optional()
        .describe('A date (the whole day, UTC), or a date-time with an offset.'),
    }),
    answers: { 200: { description: 'A FHIR Bundle of type collection', schema: bundleSchema } },
    async run(request) {
      const { services, params, query, now } = request;
      const { id: project, role } = await projectFor(request, params.project_id, 'member');
      const moment = parseAt(query.at, now());
      const { patient_id: patient } = params;
      const of = await findEnvironment(request, project, role, patient);
      if (of === undefined) throw notFound('Patient', patient.slice(0, 60));
      request.concerns(project, of);
      requireOpenOnPages(request, of);
      const record = await services.recordAt(patient, moment, services.config.limits.answerBytes);
      if (record === undefined || record.events === 0) {
        throw new Refusal('not_found', {
          code: 'not-found',
          diagnostics: `Patient/${patient} has no record${query.at === undefined ? '' : ` as of ${query.at}`}`,
        });
      }
      if (record.brokenAt !== undefined)
        throw new Error(
          `hash mismatch in record-${patient} at revision ${record.brokenAt}: this event or the one before it was altered`,
        );
      const kind = { environment: of, action: '$everything', resourceType: null };
      await noteReads(request, kind, [{ record: patient, count: null }]);
      return {
        status: 200,
        headers: { 'Content-Type': FHIR_JSON },
        text: record.bundle,
      };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/consents',
    operationId: 'listProjectConsents',
    summary: 'Consents that patients gave the project’s applications',
    description:
      'Grants to the project’s applications in an environment, the newest first, including ended ones. In production, this requires the role auditor, admin or owner.',
    tag: TAG,
    credential: 'identity',
    models: ['projects', 'consents'],
    grantToken: 'refused',
    query: z.strictObject({ ...LIST_QUERY, ...inEnvironment }),
    answers: { 200: { description: 'A page', schema: listSchema(consentSchema) } },
    async run(request) {
      const { services, params, query } = request;
      const { id: project, role } = await projectFor(request, params.project_id, 'member');
      requireRole(role, TO_READ[query.environment]);
      return listed(await services.consentQueries.listGrants({ project, ...query }), consentView);
    },
  }),
];
