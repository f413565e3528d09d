/**
 * Invites members by e-mail address. The service sends no e-mail: the person who invites passes on the link (docs/admin.md).
 */
import { z } from 'zod';
import { TO_GIVE } from '#commands/organization/invitations.ts';
import type { InvitationRow } from '#queries/admin/invitations.ts';
import type { Identity } from '#src/shared/access/identity.ts';
import { notFound } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { route } from '../api/route.ts';
import { instant, LIST_QUERY, listSchema, PAGED } from '../api/schemas.ts';
import { type AdminRequest, organizationFor, requireInstallationsTrust, toAuthor } from './access.ts';
import { listed } from './answers.ts';
import { role } from './schemas.ts';

const TAG = 'Organizations';

const invitationSchema = z
  .object({
    id: z.string(),
    organization_id: z.string(),
    organization_name: z.string(),
    email: z.string(),
    role,
    invited_by: z.string().describe('The address of the member who sent the invitation, or their `sub`.'),
    status: z.enum(['pending', 'accepted', 'withdrawn', 'replaced', 'expired']),
    created_at: instant,
    expires_at: instant,
    url: z
      .string()
      .describe(
        'The page at which the invited person accepts. Pass this URL on, because the service sends no mail.',
      ),
  })
  .meta({ id: 'MemberInvitation' });

const STATUSES = ['accepted', 'withdrawn', 'replaced'] as const;

function invitationView({ services, now }: Pick<AdminRequest, 'services' | 'now'>) {
  return (row: InvitationRow): z.input<typeof invitationSchema> => ({
    id: row.id,
    organization_id: row.organization,
    organization_name: row.organization_name,
    email: row.email,
    role: row.role,
    invited_by: row.invited_by,
    status:
      STATUSES.find((each) => each === row.end_reason) ?? (row.expires_at <= now() ? 'expired' : 'pending'),
    created_at: toInstant(row.created_at),
    expires_at: toInstant(row.expires_at),
    url: `${services.config.baseUrl}/app`,
  });
}

/** Returns a person's verified address in lower case; undefined if they have none. */
function readAddress({ email, emailVerified }: Identity): string | undefined {
  return emailVerified ? email?.toLowerCase() : undefined;
}

/** Routes for invitations. */
export const INVITATION_ROUTES = [
  route({
    method: 'POST',
    path: '/admin/organizations/{org_id}/invitations',
    operationId: 'inviteMember',
    summary: 'Invite a person to an organization by their e-mail address',
    description:
      'Anyone who signs in with this address, verified by an issuer that the installation trusts, can accept within 14 days. Owners can give every role, admins every role except owner. An earlier invitation for the address ends. The service sends no mail, so pass `url` on.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    body: z
      .strictObject({ email: z.email().max(320), role })
      .meta({ examples: [{ email: 'ana@clinic.example', role: 'developer' }] }),
    answers: { 201: { description: 'The invitation', schema: invitationSchema } },
    async run(request) {
      const { services, identity, params, body, now } = request;
      const { id, name } = await organizationFor(request, params.org_id, TO_GIVE(body.role));
      const email = body.email.toLowerCase();
      const { issuer, subject } = identity;
      const by = { issuer, subject };
      const { result, wrote } = await services.admin.inviteMember(toAuthor(request), id, {
        email,
        role: body.role,
        by,
      });
      const row: InvitationRow = {
        id: result.id,
        organization: id,
        organization_name: name,
        email,
        role: body.role,
        invited_by: identity.email ?? subject,
        created_at: wrote?.at ?? now(),
        expires_at: result.until,
        ended_at: null,
        end_reason: null,
      };
      return { status: 201, body: invitationView(request)(row), position: wrote?.position };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/organizations/{org_id}/invitations',
    operationId: 'listMemberInvitations',
    summary: 'An organization’s invitations, the newest first, including ended ones',
    description: PAGED,
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listSchema(invitationSchema) } },
    async run(request) {
      const { id } = await organizationFor(request, request.params.org_id, 'member');
      const page = await request.services.adminQueries.invitationsOf(id, request.query);
      return listed(page, invitationView(request));
    },
  }),
  route({
    method: 'DELETE',
    path: '/admin/organizations/{org_id}/invitations/{invitation_id}',
    operationId: 'withdrawMemberInvitation',
    summary: 'Withdraw an invitation',
    description:
      'Withdrawing an invitation that has ended changes nothing. If the person has accepted it, they stay a member.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: { 204: { description: 'It can’t be accepted any more' } },
    async run(request) {
      const { id } = await organizationFor(request, request.params.org_id, 'admin');
      const { wrote } = await request.services.admin.withdrawInvitation(
        toAuthor(request),
        id,
        request.params.invitation_id,
      );
      return { status: 204, position: wrote?.position };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/invitations',
    operationId: 'listMyMemberInvitations',
    summary: 'Invitations for your verified e-mail address',
    description:
      'At most 100 pending invitations, the newest first. The list is empty if your address isn’t verified.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: {
      200: { description: 'The invitations', schema: z.object({ data: z.array(invitationSchema) }) },
    },
    async run(request) {
      const { services, identity, now } = request;
      const email = identity.organizations === undefined ? readAddress(identity) : undefined;
      const rows = email === undefined ? [] : await services.adminQueries.invitationsFor(email, now());
      return { status: 200, body: { data: rows.map(invitationView(request)) } };
    },
  }),
  route({
    method: 'POST',
    path: '/admin/invitations/{invitation_id}/accept',
    operationId: 'acceptMemberInvitation',
    summary: 'Become a member of the organization that invites you',
    description:
      'An invitation that isn’t for your verified address, or has ended, returns 404. If you are already a member, or the person who invited you can no longer give the role, the answer is 409.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: {
      200: {
        description: 'Your membership',
        schema: z.object({ organization_id: z.string(), organization_name: z.string(), role }),
      },
    },
    async run(request) {
      const { services, identity, params, now } = request;
      requireInstallationsTrust(identity, 'accepting an invitation');
      const email = readAddress(identity);
      const found = await services.adminQueries.invitation(params.invitation_id);
      // The command itself refuses an invitation that is for another address or has been ended.
      if (email === undefined || found === undefined || found.expires_at <= now())
        throw notFound('invitation', params.invitation_id.slice(0, 60));
      const { issuer, subject } = identity;
      const { wrote } = await services.admin.acceptInvitation(toAuthor(request), found.organization, {
        id: found.id,
        person: { issuer, subject },
        email,
      });
      const { organization, organization_name, role: given } = found;
      return {
        status: 200,
        body: { organization_id: organization, organization_name, role: given },
        position: wrote?.position,
        awaited: true,
      };
    },
  }),
];
