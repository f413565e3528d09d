/** Issues access tokens to members, so that the dashboard can show them a project's data. */
import { z } from 'zod';
import { drawSecret } from '#commands/secret.ts';
import { MEMBER_TOKEN_S } from '#src/oauth/tokens/member-token.ts';
import { TO_WRITE } from '#src/shared/access/member.ts';
import { route } from '../api/route.ts';
import { environment } from '../api/schemas.ts';
import { projectFor, requireRole, toAuthor } from './access.ts';
import { keyScopes } from './schemas.ts';

const newToken = z
  .strictObject({ environment, scopes: keyScopes.default(['read']) })
  .meta({ examples: [{ environment: 'sandbox', scopes: ['read'] }] });

const tokenSchema = z
  .object({
    access_token: z.string().describe('`at_…`. Shown only now; the service stores its SHA-256.'),
    token_type: z.literal('Bearer'),
    expires_in: z.literal(MEMBER_TOKEN_S).describe('Seconds.'),
    environment,
    scopes: keyScopes,
  })
  .meta({ id: 'MemberToken' });

/** The route for members' tokens. */
export const TOKEN_ROUTES = [
  route({
    method: 'POST',
    path: '/admin/projects/{project_id}/tokens',
    operationId: 'createMemberToken',
    summary: 'Get an access token for the data of one environment, in your own name',
    description:
      'For a dashboard. The token works wherever an API key of the project works, for 15 minutes, as long as your role allows it: `production` requires the role admin. Everything that is done with the token is logged under your name.',
    tag: 'Projects',
    credential: 'identity',
    grantToken: 'refused',
    secret: true,
    givesToken: true,
    body: newToken,
    answers: { 201: { description: 'The token, shown only now', schema: tokenSchema } },
    async run(request) {
      const { services, identity, params, body } = request;
      const project = await projectFor(request, params.project_id, 'developer');
      requireRole(project.role, TO_WRITE[body.environment]);
      await services.admin.requireEnvironment(project.id, body.environment);
      const secret = await drawSecret(toAuthor(request));
      const token = await services.issueMemberToken({ identity, project: project.id, ...body, secret });
      const answer: z.input<typeof tokenSchema> = {
        access_token: token,
        token_type: 'Bearer',
        expires_in: MEMBER_TOKEN_S,
        ...body,
      };
      return { status: 201, body: answer };
    },
  }),
];
