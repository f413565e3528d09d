/** Invites a person to a patient's record (docs/spec/decisions.md, section 9). */

import { z } from 'zod';
import type { InvitationRow } from '#queries/consents/invitations.ts';
import { INVITATION_STATUSES } from '#src/shared/access/invitation.ts';
import { cut } from '#src/shared/cut.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { route } from '../../api/route.ts';
import { instant, LIST_QUERY, listSchema, PAGED } from '../../api/schemas.ts';
import { byKey, requirePatient } from '../people.ts';
import { liveResource } from '../record.ts';

const invitation = z
  .object({
    id: z.string(),
    relationship: z.enum(['self', 'dependent']),
    email: z.string().nullable().describe('The address that the person must have; null for any address.'),
    created_at: instant,
    expires_at: instant,
    status: z.enum(INVITATION_STATUSES).describe('`closed`: after five wrong birth dates.'),
  })
  .meta({ id: 'Invitation' });

const issued = invitation
  .extend({
    code: z.string().describe('Shown only now; the service stores only its SHA-256.'),
    url: z.string().describe('The page where the person redeems the code. Deliver this URL to the person.'),
  })
  .meta({ id: 'NewInvitation' });

function view({ id, relationship, email, created_at, expires_at, status }: InvitationRow) {
  const shown: z.input<typeof invitation> = {
    id,
    relationship,
    email,
    created_at: toInstant(created_at),
    expires_at: toInstant(expires_at),
    status,
  };
  return shown;
}

const asked = z
  .strictObject({
    relationship: z
      .enum(['self', 'dependent'])
      .default('self')
      .describe('`self`: the patient. `dependent`: a person who looks after the patient.'),
    email: z
      .email()
      .max(254)
      .optional()
      .describe('The address that the person must have, verified by the issuer they sign in at.'),
    expires_in_days: z.int().min(1).max(30).default(7),
  })
  .meta({ examples: [{ relationship: 'self', email: 'nora@example.org' }] });

const common = { tag: 'Patients and consent', credential: 'api_key', grantToken: 'refused' } as const;
const path = '/v1/patients/{patient_id}/invitations';

/** The routes. */
export const INVITATION_ROUTES = [
  route({
    ...common,
    method: 'POST',
    path,
    operationId: 'createInvitation',
    summary: 'Invite a person to a patient’s record',
    description:
      'The person signs in and enters the patient’s birth date once. The service sends no e-mail, so deliver `url` yourself. The Patient must have a full birth date.',
    scope: 'write',
    secret: true,
    body: asked,
    answers: { 201: { description: 'The invitation; its code is shown only now', schema: issued } },
    async run(request) {
      const { params, body, services, caller } = request;
      const { id } = await liveResource(request, 'Patient', params.patient_id);
      const { relationship, email, expires_in_days: days } = body;
      const made = await services.consents.invite(byKey(request), caller.sees.owner, id, {
        relationship,
        email,
        days,
      });
      const shown = view(made.invitation);
      // The code is in the query because paths are logged.
      const url = `${services.config.baseUrl}/invitations?code=${made.code}`;
      // If the response is stored under an Idempotency-Key, it must be purged together with the record, because no event
      // refers to it.
      return { status: 201, body: { ...shown, code: made.code, url }, reads: true };
    },
  }),
  route({
    ...common,
    method: 'GET',
    path,
    operationId: 'listInvitations',
    summary: 'Invitations to a patient’s record, the newest first',
    description: `${PAGED} A code is shown only when its invitation is made.`,
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listSchema(invitation) } },
    async run(request) {
      const { params, query, services } = request;
      await requirePatient(request, params.patient_id);
      const { rows, total, next } = await services.consentQueries.listInvitations(params.patient_id, query);
      return { status: 200, body: { data: rows.map(view), total, next_cursor: next ?? null } };
    },
  }),
  route({
    ...common,
    method: 'DELETE',
    path: `${path}/{invitation_id}`,
    operationId: 'withdrawInvitation',
    summary: 'Withdraw an invitation',
    description:
      'Its code stops working. Expired and closed invitations can also be withdrawn. A redeemed invitation can’t (409): end the link instead.',
    scope: 'write',
    answers: { 204: { description: 'It is withdrawn' } },
    async run(request) {
      const { params, services } = request;
      await requirePatient(request, params.patient_id);
      await services.consents.withdraw(params.patient_id, cut(params.invitation_id, 64));
      return { status: 204 };
    },
  }),
];
