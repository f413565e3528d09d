/**
 * Removes a person's personal record: `DELETE /me/patients/{patient_id}` (docs/spec/decisions.md, section 9, "Personal
 * record").
 */
import { toAuthor } from '../admin/access.ts';
import { route } from '../api/route.ts';
import { linkFor } from './access.ts';

/** The route that purges personal records. */
export const PURGE_ROUTES = [
  route({
    method: 'DELETE',
    path: '/me/patients/{patient_id}',
    operationId: 'purgeMyPatient',
    summary: 'Remove a record that you started yourself, with everything in it',
    description:
      'For personal records only: 403 for a record that a project keeps. Removes the record with its history, documents and access log, and ends all grants on it. Nothing can bring it back. You can start another one afterwards.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: ['consents'],
    answers: { 204: { description: 'The record and everything in it are removed' } },
    async run(request) {
      const { services, identity, params } = request;
      const { record } = await linkFor(request, params.patient_id);
      const { issuer, subject } = identity;
      const { position } = await services.commands.purgePersonal(
        toAuthor(request),
        { issuer, subject },
        record,
      );
      return { status: 204, position, awaited: true };
    },
  }),
];
