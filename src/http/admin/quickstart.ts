/** `POST /admin/sandbox/quickstart`: creates, in one call, everything that a new developer needs. */
import { z } from 'zod';
import { route } from '../api/route.ts';
import { requireInstallationsTrust, toAuthor } from './access.ts';
import { newOrganization, organizationView } from './organizations.ts';
import { projectView } from './projects.ts';
import { name, organizationSchema, projectSchema } from './schemas.ts';

/** Routes for the quickstart. */
export const QUICKSTART_ROUTES = [
  route({
    method: 'POST',
    path: '/admin/sandbox/quickstart',
    operationId: 'quickstart',
    summary: 'Create an organization with a project and a sandbox key',
    description: 'Creates everything that a first request needs. The key is shown only in this answer.',
    tag: 'Sandbox',
    credential: 'identity',
    grantToken: 'refused',
    secret: true,
    body: z
      .strictObject({ name: name.default('Quickstart') })
      .meta({ examples: [{ name: 'My first project' }] }),
    answers: {
      201: {
        description: 'The organization, its project, and a sandbox key (scopes read and write)',
        schema: z.object({
          organization: organizationSchema,
          project: projectSchema,
          key: z.string().describe('Shown only now; the service stores its SHA-256.'),
        }),
      },
    },
    async run(request) {
      const { services, identity, body } = request;
      requireInstallationsTrust(identity, 'creating an organization');
      const { issuer, subject, email } = identity;
      const founded = await services.admin.quickstart(toAuthor(request), {
        name: body.name,
        environment: 'sandbox',
        founder: { issuer, subject, email },
      });
      const { organization, project, key, position } = founded;
      return {
        status: 201,
        body: {
          organization: organizationView(newOrganization(organization, body.name, founded.organizationAt)),
          project: projectView({ id: project, organization, name: body.name, created_at: founded.at }),
          key,
        },
        position,
      };
    },
  }),
];
