/** Ends an application's access on behalf of a person: `POST /me/patients/{patient_id}/grants/{grant_id}/revoke`. */
import { z } from 'zod';
import { toAuthor } from '../admin/access.ts';
import { route } from '../api/route.ts';
import { grantFor } from './access.ts';
import { myGrantsView } from './grants.ts';
import { myGrantSchema } from './schemas.ts';

/** The route that revokes grants. */
export const REVOKE_ROUTES = [
  route({
    method: 'POST',
    path: '/me/patients/{patient_id}/grants/{grant_id}/revoke',
    operationId: 'revokeMyGrant',
    summary: 'End an application’s access to a record',
    description:
      'Once the request returns, none of the application’s tokens works, on any instance. A grant that has ended stays as it is. `reason` is for your own notes: it is kept in the record’s history, and no application is told.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: ['consents'],
    body: z
      .strictObject({ reason: z.string().trim().min(1).max(1_000).optional() })
      .meta({ examples: [{ reason: 'I no longer use the app.' }] }),
    answers: { 200: { description: 'The grant as it is now', schema: myGrantSchema } },
    async run(request) {
      const { services, params, body: asked } = request;
      const row = await grantFor(request, params.patient_id, params.grant_id);
      const { issuer, subject, record, application_id: applicationId } = row;
      const grant = { grantId: row.id, record, applicationId, person: { issuer, subject } };
      const { wrote } = await services.consents.revoke(toAuthor(request), grant, 'patient', asked.reason);
      if (wrote !== undefined) {
        const ended = { ended_at: wrote.at, end_reason: 'patient', status: 'revoked' as const };
        const [body] = await myGrantsView(services, [{ ...row, ...ended }]);
        return { status: 200, body, position: wrote.position, awaited: true };
      }
      // The grant had already ended, possibly only a moment ago.
      await services.freshness.catchUp(['consents']);
      const now = await services.consentQueries.grant(row.id);
      const [body] = await myGrantsView(services, [now ?? row]);
      return { status: 200, body };
    },
  }),
];
