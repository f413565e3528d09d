/** The provenance summary of REST v1: who wrote each version (interface.md, section 2.3; decisions.md, section 4). */
import { z } from 'zod';
import { AUTHOR_TYPES } from '#src/events/metadata.ts';
import { isResourceType } from '#src/fhir/types.ts';
import { notFound } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time.ts';
import { route } from '../api/route.ts';
import { instant, LIST_QUERY, listOf } from '../api/schemas.ts';

const versionSchema = z
  .object({
    version: z.int(),
    activity: z.enum(['CREATE', 'UPDATE', 'DELETE']),
    recorded: instant,
    author_type: z.enum(AUTHOR_TYPES),
    author: z.string().nullable().describe('`Practitioner/<id>` or `PractitionerRole/<id>`.'),
    source_system: z.string().nullable(),
    origin_id: z.string().nullable(),
    fhir: z.string().describe('`Provenance/<id>` on the FHIR interface.'),
  })
  .meta({ id: 'ProvenanceEntry' });

/** Its route. */
export const PROVENANCE_ROUTES = [
  route({
    method: 'GET',
    path: '/v1/patients/{patient_id}/provenance/{resource_type}/{resource_id}',
    operationId: 'listProvenance',
    summary: 'Who wrote each version of a resource, the newest first',
    tag: 'Patients and records',
    credential: 'api_key',
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listOf(versionSchema) } },
    async run({ services, caller, params, query }) {
      const { patient_id: patient, resource_type: type, resource_id: id } = params;
      const of = { patient, id };
      const page = isResourceType(type)
        ? await services.queries.versions(caller, { ...of, type }, query)
        : undefined;
      if (page === undefined) throw notFound(type.slice(0, 64), id.slice(0, 64));
      const data = page.versions.map(
        ({ version, operation, recorded, eventId, metadata }): z.input<typeof versionSchema> => ({
          version,
          activity: operation,
          recorded: toInstant(recorded),
          author_type: metadata.author?.type ?? 'import',
          author: metadata.author?.reference ?? metadata.acting_as ?? null,
          source_system: metadata.source_system ?? null,
          origin_id: metadata.origin_id ?? null,
          fhir: `Provenance/${eventId}`,
        }),
      );
      return { status: 200, body: { data, total: page.total, next_cursor: page.next ?? null } };
    },
  }),
];
