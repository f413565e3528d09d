/** Shows auditors the access log of a project's records: who read which data, and the proof that nothing is missing. */
import { z } from 'zod';
import type { AuditedAccess } from '#queries/audit/access-search.ts';
import { CONSENT_GROUPS, type ConsentGroup } from '#src/oauth/consent-items.ts';
import { ACCESS_STATUSES } from '#src/shared/access/access-entry.ts';
import { notFound } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { accessEntrySchema, accessEntryView } from '../../api/access-log-view.ts';
import { route } from '../../api/route.ts';
import { environment, instant, LIST_QUERY } from '../../api/schemas.ts';
import { projectFor } from '../access.ts';
import { PERIOD_QUERY, periodIn, periodInOrder } from '../period.ts';
import { mayShow, noteReads, requireOpenOnPages } from '../record-reads.ts';
import { covering } from './covering.ts';
import { applicationId, keyId, patientId } from './ids.ts';
import { readPatientNames } from './titles.ts';

const CATEGORY_OF: ReadonlyMap<string, ConsentGroup> = new Map(
  Object.entries(CONSENT_GROUPS).flatMap(([group, types]) =>
    types.map((type): [string, ConsentGroup] => [type, group as ConsentGroup]),
  ),
);

const entrySchema = accessEntrySchema
  .extend({
    patient: z.string(),
    patient_name: z
      .string()
      .nullable()
      .describe('The name that the record has now; null without `names=true`, or if the record has no name.'),
    entry: z.int().describe('The entry’s number in the patient’s log, from 1 without gaps.'),
    hash: z.string().describe('Hash over this entry and the previous entry’s hash: docs/access-log.md.'),
    person: z
      .object({ issuer: z.string(), subject: z.string() })
      .nullable()
      .describe('The name of a member; patients and representatives aren’t named.'),
    organization: z
      .string()
      .nullable()
      .describe(
        'Name of the organization to which the application, key or member belongs; null for other readers.',
      ),
    category: z
      .string()
      .nullable()
      .describe(
        'Group of the type that was read, as on the consent page: `results`, `medications`, …; null if the read was not about one group.',
      ),
    source_system: z
      .string()
      .nullable()
      .describe(
        'Where the one resource that was read came from; null if it was not one, or it does not say.',
      ),
    grant: z.string().nullable(),
  })
  .meta({ id: 'AuditedAccess' });

const pageSchema = z.object({
  data: z.array(entrySchema),
  next_cursor: z.string().nullable().describe('The `cursor` for the next page; null on the last page.'),
  searched_to: instant
    .nullable()
    .describe(
      'Set if the page ended before it was full, because it had looked through 20,000 entries: it covers the time from here on. `next_cursor` continues.',
    ),
  logs_key_reads: z
    .boolean()
    .describe(
      'Whether the service now logs reads with API keys and `client_credentials` tokens (`ACCESS_LOG=all`). If it doesn’t, such reads leave no entry, but earlier entries for such reads are listed.',
    ),
  proof: z
    .object({
      entries: z
        .int()
        .describe('Number of entries in the patient’s log, which is also the number of the last entry.'),
      hash: z.string().nullable().describe('Hash of the last entry; null if there are no entries.'),
      checkpoint: covering,
    })
    .nullable()
    .describe('With `patient`: what shows that no entry is missing. Null without `patient`.'),
});

/** Also allows the names of FHIR operations, such as `$everything`. */
const ACTIONS = /^[$\w-]{1,60}(?:,[$\w-]{1,60}){0,40}$/;

function entryView(row: AuditedAccess, patient_name: string | null): z.input<typeof entrySchema> {
  return {
    ...accessEntryView(row),
    patient: row.record,
    patient_name,
    entry: row.seq,
    hash: row.hash,
    person:
      row.role === 'member' && row.issuer !== null ? { issuer: row.issuer, subject: row.actor_id } : null,
    organization: row.organization,
    category: CATEGORY_OF.get(row.resource_type ?? '') ?? null,
    source_system: row.source_system,
    grant: row.grant_id,
  };
}

/** Routes for the access log. */
export const ACCESS_LOG_ROUTES = [
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/access-log',
    operationId: 'searchAccessLog',
    summary: 'Who read the records of a project, newest first',
    description:
      'Entries in the access logs of the project’s patients in one environment. An entry must fulfil all conditions. A page looks through at most 20,000 entries; `searched_to` says how far. Requires the role auditor.',
    tag: 'Audit',
    credential: 'identity',
    grantToken: 'refused',
    models: ['projects', 'resources', 'history'],
    query: z
      .strictObject({
        ...LIST_QUERY,
        ...PERIOD_QUERY,
        environment: environment.default('sandbox'),
        patient: patientId.optional(),
        application: applicationId.optional(),
        key: keyId.optional(),
        person: z
          .string()
          .min(1)
          .max(300)
          .optional()
          .describe(
            'A part of a member’s e-mail address in any case, or the whole subject of a person’s ID token.',
          ),
        action: z
          .string()
          .regex(ACTIONS, 'must be an action such as read, or several separated by commas')
          .transform((text) => text.split(','))
          .optional()
          .describe('Such as `read`; separate several by commas.'),
        status: z.enum(ACCESS_STATUSES).optional(),
        names: z
          .literal('true')
          .optional()
          .describe(
            '`true`: include the names of patients. This is a read of each Patient, which appears in that patient’s access log.',
          ),
      })
      .superRefine(periodInOrder),
    answers: { 200: { description: 'A page of the access log', schema: pageSchema } },
    async run(request) {
      const { services, params, query } = request;
      const { audit, adminQueries } = services;
      const { id: project } = await projectFor(request, params.project_id, 'auditor');
      const { environment: of, from: _from, to: _to, patient, names, action: actions, ...asked } = query;
      requireOpenOnPages(request, of);
      const tenant = { project, environment: of };
      if (patient !== undefined && !(await adminQueries.hasRecord([tenant], patient)))
        throw notFound('Patient', patient.slice(0, 60));
      const [{ rows, next, searchedTo }, head] = await Promise.all([
        audit.accesses(tenant, { ...asked, ...periodIn(query), actions, patient }),
        patient === undefined ? undefined : audit.accessHead(patient),
      ]);
      const records = [...new Set(rows.map(({ record }) => record))];
      const isNamed = names === 'true' && mayShow(request, of);
      const findName = isNamed ? await readPatientNames(services, records) : () => null;
      if (isNamed)
        await noteReads(
          request,
          { environment: of, action: 'search-type', resourceType: 'Patient' },
          records.map((record) => ({ record, count: 1 })),
        );
      const checkpoint = head && (await audit.coveredBy(`access-${patient}`, 1));
      return {
        status: 200,
        body: {
          data: rows.map((row) => entryView(row, findName(row.record))),
          next_cursor: next ?? null,
          searched_to: searchedTo === undefined ? null : toInstant(searchedTo),
          logs_key_reads: services.config.accessLog === 'all',
          proof:
            patient === undefined
              ? null
              : { entries: head?.entries ?? 0, hash: head?.hash ?? null, checkpoint: checkpoint ?? null },
        },
      };
    },
  }),
];
