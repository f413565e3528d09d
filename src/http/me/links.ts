/** Routes that begin and end a person's links to records: invitations and `DELETE …/link`. */
import { z } from 'zod';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { toAuthor } from '../admin/access.ts';
import { route } from '../api/route.ts';
import { linkFor, requirePerson } from './access.ts';
import { myPatientSchema, myPatientView } from './schemas.ts';

const redemption = z
  .strictObject({
    code: z.string().trim().min(1).max(200).describe('From the invitation.'),
    birth_date: z.iso.date().describe('The patient’s birth date, `YYYY-MM-DD`.'),
  })
  .meta({ examples: [{ code: 'k3J9…', birth_date: '1957-03-14' }] });

/** Routes of links. */
export const MY_LINK_ROUTES = [
  route({
    method: 'POST',
    path: '/me/invitations/redeem',
    operationId: 'redeemInvitation',
    summary: 'Link a record to you with an invitation’s code',
    description:
      'Unknown, used, withdrawn, expired and closed codes return the same 404. A wrong birth date returns 422, and five wrong ones close the invitation. You have ten tries per hour.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: ['consents'],
    body: redemption,
    answers: { 200: { description: 'The record that is now linked to you', schema: myPatientSchema } },
    async run(request) {
      requirePerson(request);
      const { services, identity, body } = request;
      const { result, wrote } = await services.consents.redeemInvitation(
        toAuthor(request),
        identity,
        body.code,
        body.birth_date,
      );
      await services.freshness.catchUp(['consents', 'resources']);
      const link = await services.consentQueries.linkTo(identity, result.patient);
      if (link === undefined) throw notFound('Patient', result.patient);
      const mine = await services.consentQueries.listRecords(identity, link.environment, { deleted: true });
      const shown = mine.find(({ id }) => id === result.patient);
      if (shown === undefined) throw notFound('Patient', result.patient);
      return { status: 200, body: myPatientView(shown), position: wrote?.position };
    },
  }),
  route({
    method: 'DELETE',
    path: '/me/patients/{patient_id}/link',
    operationId: 'endMyLink',
    summary: 'Give up your link to a record',
    description:
      'Also ends the grants that you gave applications on the record. The record stays with the project that owns it.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: ['consents'],
    answers: { 204: { description: 'It has ended' } },
    async run(request) {
      const { services, params, identity } = request;
      const { linkId, record, relationship } = await linkFor(request, params.patient_id);
      if (linkId === undefined) {
        throw new Refusal('conflict', {
          code: 'conflict',
          diagnostics:
            'this link to a synthetic patient follows from your e-mail address; it ends when the patient’s address changes',
        });
      }
      const { issuer, subject } = identity;
      const link = { linkId, person: { issuer, subject }, relationship };
      const { wrote } = await services.consents.unlink(toAuthor(request), record, link, 'patient');
      return { status: 204, position: wrote?.position, awaited: true };
    },
  }),
];
