/**
 * Manages members of organizations by name. The interface specification doesn't include these routes; docs/admin.md says why
 * they exist.
 */
import { z } from 'zod';
import type { MemberRow } from '#queries/admin/organizations.ts';
import { route } from '../api/route.ts';
import { instant, LIST_QUERY, listSchema } from '../api/schemas.ts';
import { type AdminRequest, organizationFor, toAuthor } from './access.ts';
import { listed, toInstantOrNull } from './answers.ts';
import { person, role } from './schemas.ts';

const TAG = 'Organizations';

const memberSchema = z.object({
  issuer: z.string(),
  subject: z.string(),
  email: z.string().nullable(),
  role,
  since: instant.describe('When they got this role.'),
});

function memberView({
  issuer,
  subject,
  email,
  role: own,
  created_at,
}: Omit<MemberRow, 'id'>): z.input<typeof memberSchema> {
  return { issuer, subject, email, role: own, since: toInstantOrNull(created_at) ?? '' };
}

/** Routes of members. */
export const MEMBER_ROUTES = [
  route({
    method: 'GET',
    path: '/admin/organizations/{org_id}/members',
    operationId: 'listMembers',
    summary: 'Members, the newest first',
    description: 'The list leaves out people who are developers through single sign-on.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listSchema(memberSchema) } },
    async run(request) {
      const { id } = await organizationFor(request, request.params.org_id, 'member');
      const page = await request.services.adminQueries.members(id, request.query);
      return listed(page, memberView);
    },
  }),
  route({
    method: 'POST',
    path: '/admin/organizations/{org_id}/members',
    operationId: 'putMember',
    summary: 'Add a member, or change a member’s role',
    description: 'Owners can assign every role, admins every role except owner.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    body: z.strictObject({ ...person, email: z.email().max(320).optional(), role }).meta({
      examples: [{ issuer: 'https://login.example.org', subject: '248289761001', role: 'developer' }],
    }),
    answers: { 200: { description: 'The member', schema: memberSchema } },
    async run(request) {
      const { services, params, body, now } = request;
      const { id } = await organizationFor(request, params.org_id, body.role === 'owner' ? 'owner' : 'admin');
      const before = await memberWhoMayChange(request, id, body);
      const { role: given, ...member } = body;
      const { wrote } = await services.admin.addMember(toAuthor(request), id, member, given);
      // A role that the member already has isn't written again.
      const unchanged = wrote === undefined ? before : undefined;
      const answer = memberView(
        unchanged ?? { ...member, email: member.email ?? null, role: given, created_at: wrote?.at ?? now() },
      );
      // With a lower role, the person's tokens that need a higher role are revoked.
      return { status: 200, body: answer, position: wrote?.position, awaited: true };
    },
  }),
  route({
    method: 'DELETE',
    path: '/admin/organizations/{org_id}/members',
    operationId: 'removeMember',
    summary: 'Remove a member',
    description:
      'The person loses access to the organization’s projects at once. The last owner can’t be removed (409).',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    query: z.strictObject(person),
    answers: { 204: { description: 'The person is no longer a member' } },
    async run(request) {
      const { services, params, query } = request;
      const { id } = await organizationFor(request, params.org_id, 'admin');
      await memberWhoMayChange(request, id, query);
      const { wrote } = await services.admin.removeMember(toAuthor(request), id, query);
      return { status: 204, position: wrote?.position, awaited: true };
    },
  }),
];

/**
 * Returns the current member, if any. Only an owner may change another owner.
 * @throws Refusal forbidden (403)
 */
async function memberWhoMayChange(
  request: AdminRequest,
  organization: string,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
): Promise<MemberRow | undefined> {
  const member = await request.services.adminQueries.member(organization, issuer, subject);
  if (member?.role === 'owner') await organizationFor(request, organization, 'owner');
  return member;
}
