/** Members of organizations by name. The interface does not name these routes; docs/admin.md says why they are there. */
import { z } from 'zod';
import { route } from '../api/route.ts';
import { instant, LIST_QUERY, listOf } from '../api/schemas.ts';
import { type AdminRequest, by, organizationFor } from './access.ts';
import { instantOf, listed } from './answers.ts';
import { person, role } from './schemas.ts';

const TAG = 'Organizations';

const memberSchema = z.object({
  issuer: z.string(),
  subject: z.string(),
  email: z.string().nullable(),
  role,
  since: instant.describe('When they got this role.'),
});

/** Their routes. */
export const MEMBER_ROUTES = [
  route({
    method: 'GET',
    path: '/admin/organizations/{org_id}/members',
    operationId: 'listMembers',
    summary: 'Members by name, the newest first',
    description: 'People whom single sign-on makes developers are not listed.',
    tag: TAG,
    credential: 'identity',
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listOf(memberSchema) } },
    async run(request) {
      const { id } = await organizationFor(request, request.params.org_id, 'developer');
      const page = await request.services.adminQueries.members(id, request.query);
      return listed(page, (row): z.input<typeof memberSchema> => {
        const { issuer, subject, email, role: own, created_at } = row;
        return { issuer, subject, email, role: own, since: instantOf(created_at) ?? '' };
      });
    },
  }),
  route({
    method: 'POST',
    path: '/admin/organizations/{org_id}/members',
    operationId: 'putMember',
    summary: 'Add a member, or give one another role',
    description: 'Owners may do so for every role, admins for admins and developers.',
    tag: TAG,
    credential: 'identity',
    body: z.strictObject({ ...person, email: z.email().max(320).optional(), role }),
    answers: { 200: { description: 'The member', schema: memberSchema } },
    async run(request) {
      const { services, params, body, now } = request;
      const { id } = await organizationFor(request, params.org_id, body.role === 'owner' ? 'owner' : 'admin');
      await requireOverMember(request, id, body);
      const { role: given, ...member } = body;
      const { wrote } = await services.admin.addMember(by(request), id, member, given);
      const answer: z.input<typeof memberSchema> = {
        issuer: member.issuer,
        subject: member.subject,
        email: member.email ?? null,
        role: given,
        since: instantOf(wrote?.at ?? now()) ?? '',
      };
      return { status: 200, body: answer, position: wrote?.position };
    },
  }),
  route({
    method: 'DELETE',
    path: '/admin/organizations/{org_id}/members',
    operationId: 'removeMember',
    summary: 'Remove a member',
    tag: TAG,
    credential: 'identity',
    query: z.strictObject(person),
    answers: { 204: { description: 'Is no member any more' } },
    async run(request) {
      const { services, params, query } = request;
      const { id } = await organizationFor(request, params.org_id, 'admin');
      await requireOverMember(request, id, query);
      const { wrote } = await services.admin.removeMember(by(request), id, query);
      return { status: 204, position: wrote?.position, awaited: true };
    },
  }),
];

/** Nobody but an owner changes what an owner is. @throws Refusal forbidden (403) */
async function requireOverMember(
  request: AdminRequest,
  organization: string,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
): Promise<void> {
  const current = await request.services.adminQueries.memberRole(organization, issuer, subject);
  if (current === 'owner') await organizationFor(request, organization, 'owner');
}
