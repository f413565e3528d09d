/**
 * Serves REST v1's provenance summary: who wrote each version (docs/spec/interface.md, section 2.3; docs/spec/decisions.md,
 * section 4).
 */

import { z } from 'zod';
import type { Writer } from '#queries/provenance/writers.ts';
import type { RecordedVersion } from '#queries/rest/versions.ts';
import { isResourceType } from '#src/fhir/types.ts';
import { AUTHOR_TYPES } from '#src/shared/access/author.ts';
import { requireLetters } from '#src/shared/access/outside-grant.ts';
import { cut } from '#src/shared/cut.ts';
import { notFound } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { route } from '../api/route.ts';
import { instant, LIST_QUERY, listSchema } from '../api/schemas.ts';
import { shownCursor } from './record.ts';

const versionSchema = z
  .object({
    version: z.int(),
    activity: z.enum(['CREATE', 'UPDATE', 'DELETE']),
    recorded: instant,
    author_type: z.enum(AUTHOR_TYPES),
    author: z.string().nullable().describe('`Practitioner/<id>` or `PractitionerRole/<id>`.'),
    author_name: z.string().nullable().describe('The name of `author` when this version was written.'),
    acting_as: z
      .string()
      .nullable()
      .describe('Who entered it for the author: `X-Service-Acting-As`, if both headers were sent.'),
    acting_as_name: z.string().nullable(),
    written_by: z
      .object({
        kind: z
          .enum(['api_key', 'application', 'member', 'organization', 'service'])
          .describe(
            '`application`: an application with its own token; `member`: a person in the organization, in the dashboard; `organization`: a key, application or member from another project; `service`: Annal itself, for example a sandbox.',
          ),
        id: z
          .string()
          .nullable()
          .describe('`key_…`, `app_…` or `org_…`; for a member the `sub` at their issuer.'),
        name: z.string().nullable(),
        last4: z.string().nullable().describe('The last four characters of the key.'),
      })
      .describe('The owner of the credential that made the write, whatever author the write names.'),
    source_system: z.string().nullable(),
    origin_id: z.string().nullable(),
    fhir: z.string().describe('`Provenance/<id>` on the FHIR interface.'),
  })
  .meta({ id: 'ProvenanceEntry' });

/** The route for provenance summaries. */
export const PROVENANCE_ROUTES = [
  route({
    method: 'GET',
    path: '/v1/patients/{patient_id}/provenance/{resource_type}/{resource_id}',
    operationId: 'listProvenance',
    summary: 'Who wrote each version of a resource, the newest first',
    description: 'Each entry says who wrote the version, when, on whose behalf and from which system.',
    tag: 'Patients',
    credential: 'api_key',
    grantToken: {
      action: 'provenance',
      needs: [{ type: 'Provenance', letters: 's' }],
      type: 'Provenance',
    },
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listSchema(versionSchema) } },
    async run(request) {
      const { services, caller, params, query } = request;
      const { patient_id: patient, resource_type: type, resource_id: id } = params;
      if (isResourceType(type)) requireLetters(caller.sees.within, type, 's');
      const of = { patient, id };
      const page = isResourceType(type)
        ? await services.queries.versions(caller, { ...of, type }, query)
        : undefined;
      if (page === undefined) throw notFound(cut(type, 64), cut(id, 64));
      const data = page.versions.map(
        ({ version, operation, recorded, eventId, metadata, writer }): z.input<typeof versionSchema> => ({
          version,
          activity: operation,
          recorded: toInstant(recorded),
          author_type: metadata.author?.type ?? 'import',
          author: metadata.author?.reference ?? metadata.acting_as ?? null,
          author_name: metadata.author?.display ?? null,
          ...actingIn(metadata),
          written_by: writtenBy(writer),
          source_system: metadata.source_system ?? null,
          origin_id: metadata.origin_id ?? null,
          fhir: `Provenance/${eventId}`,
        }),
      );
      const { total, next } = page;
      return {
        status: 200,
        body: { data, total, next_cursor: shownCursor(request, next) },
        shown: data.length,
      };
    },
  }),
];

/** Returns who holds a credential. A member's issuer is shown only in the FHIR resource. */
function writtenBy(writer: Writer): z.input<typeof versionSchema>['written_by'] {
  if (writer.kind !== 'member') return { id: null, name: null, last4: null, ...writer };
  return { kind: writer.kind, id: writer.id, name: writer.name, last4: null };
}

/** Returns the person who acted, if somebody else is the author. */
function actingIn({ author, acting_as, acting_as_display }: RecordedVersion['metadata']): {
  acting_as: string | null;
  acting_as_name: string | null;
} {
  const other = author?.reference === undefined || author.reference === acting_as ? undefined : acting_as;
  return { acting_as: other ?? null, acting_as_name: acting_as_display ?? null };
}
