/** How a person ends an application's access: `POST /me/patients/{patient_id}/grants/{grant_id}/revoke`. */
import { z } from 'zod';
import type { GrantRow } from '#queries/consents/grants.ts';
import { notFound } from '#src/shared/refusal.ts';
import { by } from '../admin/access.ts';
import { route } from '../api/route.ts';
import { linkFor, type MeRequest } from './access.ts';
import { myGrantView } from './grants.ts';
import { myGrantSchema } from './schemas.ts';

/**
 * Returns a grant on a record of the person, also one that another person gave.
 * @throws Refusal forbidden (403), not_found (404)
 */
async function grantFor(request: MeRequest, patient: string, id: string): Promise<GrantRow> {
  const { record } = await linkFor(request, patient);
  const found = await request.services.consentQueries.grant(id);
  if (found?.record !== record) throw notFound('grant', id.slice(0, 64));
  return found;
}

/** The route that ends grants. */
export const REVOKE_ROUTES = [
  route({
    method: 'POST',
    path: '/me/patients/{patient_id}/grants/{grant_id}/revoke',
    operationId: 'revokeMyGrant',
    summary: 'End an application’s access to a record',
    description:
      'After the answer none of its tokens works, on any instance. A grant that has ended stays as it is. `reason` is for your own notes: it is kept in the record’s history, and no application is told.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: ['consents'],
    body: z.strictObject({ reason: z.string().trim().min(1).max(1_000).optional() }),
    answers: { 200: { description: 'The grant as it is now', schema: myGrantSchema } },
    async run(request) {
      const { services, params, body } = request;
      const row = await grantFor(request, params.patient_id, params.grant_id);
      const { issuer, subject, record, application_id: applicationId } = row;
      const grant = { grantId: row.id, record, applicationId, person: { issuer, subject } };
      const { wrote } = await services.consents.revoke(by(request), grant, 'patient', body.reason);
      if (wrote !== undefined) {
        const ended = { ended_at: wrote.at, end_reason: 'patient', status: 'revoked' as const };
        const answer = { status: 200, body: myGrantView({ ...row, ...ended }) };
        return { ...answer, position: wrote.position, awaited: true };
      }
      // It had ended, perhaps a moment ago.
      await services.caughtUp(['consents']);
      const now = await services.consentQueries.grant(row.id);
      return { status: 200, body: myGrantView(now ?? row) };
    },
  }),
];
