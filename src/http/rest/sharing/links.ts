/** Lists the people linked to a patient's record, without their names (docs/spec/decisions.md, section 9). */

import { z } from 'zod';
import type { RecordLink } from '#queries/consents/links.ts';
import { cut } from '#src/shared/cut.ts';
import { notFound } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { route } from '../../api/route.ts';
import { instant, LIST_QUERY, listSchema } from '../../api/schemas.ts';
import { byKey, requirePatient } from '../people.ts';

const link = z
  .object({
    id: z.string(),
    relationship: z
      .enum(['self', 'dependent'])
      .describe('`self`: the record is the person’s own. `dependent`: they look after the patient.'),
    via: z.enum(['invitation', 'own', 'identity_grant']).describe('How the link came to be.'),
    since: instant,
  })
  .meta({ id: 'Link' });

function linkView({ id, relationship, via, created_at }: RecordLink): z.input<typeof link> {
  return { id, relationship, via, since: toInstant(created_at) };
}

const common = { tag: 'Patients and consent', credential: 'api_key', grantToken: 'refused' } as const;
const models = ['resources', 'history', 'consents'];

/** The routes. */
export const LINK_ROUTES = [
  route({
    ...common,
    method: 'GET',
    path: '/v1/patients/{patient_id}/links',
    operationId: 'listLinks',
    summary: 'People linked to a patient, the newest first',
    description: 'Shows no names, because the service doesn’t tell a project who signs in.',
    models,
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listSchema(link) } },
    async run(request) {
      const { params, query, services } = request;
      await requirePatient(request, params.patient_id);
      await services.freshness.catchUp(['consents']);
      const { rows, total, next } = await services.consentQueries.listLinks(params.patient_id, query);
      return { status: 200, body: { data: rows.map(linkView), total, next_cursor: next ?? null } };
    },
  }),
  route({
    ...common,
    method: 'DELETE',
    path: '/v1/patients/{patient_id}/links/{link_id}',
    operationId: 'deleteLink',
    summary: 'End a link, and with it all access that the person gave',
    description:
      'The person no longer sees the patient, and applications lose the grants that the person gave. This also undoes a wrong match. Ending a link that has already ended changes nothing.',
    scope: 'write',
    models,
    answers: { 204: { description: 'The link has ended, on every instance' } },
    async run(request) {
      const { params, services } = request;
      await requirePatient(request, params.patient_id);
      await services.freshness.catchUp(['consents']);
      const found = await services.consentQueries.readLink(params.patient_id, cut(params.link_id, 64));
      if (found === undefined) throw notFound('link', cut(params.link_id, 64));
      const { id: linkId, relationship, issuer, subject } = found;
      const ref = { linkId, relationship, person: { issuer, subject } };
      const { wrote } = await services.consents.unlink(byKey(request), params.patient_id, ref, 'project');
      return { status: 204, position: wrote?.position, awaited: true };
    },
  }),
];
