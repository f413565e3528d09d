/** Routes for a project's sandbox: its status and its reset (docs/sandbox.md). */
import { z } from 'zod';
import type { SandboxStatus } from '#commands/sandbox/sandboxes.ts';
import { route } from '../api/route.ts';
import { projectFor, toAuthor } from './access.ts';

const TAG = 'Sandbox';

const sandboxSchema = z.object({
  synthetic_patients: z.int().describe('Number of synthetic patients that still exist.'),
  own_patients: z.int().describe('Number of patients that the project created.'),
  writes_today: z
    .int()
    .describe('Number of requests since midnight UTC that may have written; up to a second old.'),
  resets: z.int().describe('How often the sandbox was reset.'),
});

function sandboxView(status: SandboxStatus): z.input<typeof sandboxSchema> {
  return {
    synthetic_patients: status.syntheticPatients,
    own_patients: status.ownPatients,
    writes_today: status.writesToday,
    resets: status.resets,
  };
}

/** Routes for the sandbox. */
export const SANDBOX_ROUTES = [
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/sandbox',
    operationId: 'getSandbox',
    summary: 'Show the contents of a project’s sandbox',
    description:
      'Counts the synthetic patients, the project’s own patients, the writes of today and the resets.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: { 200: { description: 'The sandbox', schema: sandboxSchema } },
    async run(request) {
      const { id } = await projectFor(request, request.params.project_id, 'member');
      return { status: 200, body: sandboxView(await request.services.sandboxes.status(id)) };
    },
  }),
  route({
    method: 'POST',
    path: '/admin/projects/{project_id}/sandbox/reset',
    operationId: 'resetSandbox',
    summary: 'Empty a project’s sandbox and fill it with new synthetic patients',
    description:
      'Purges every record of the sandbox, including the project’s own patients, deletes its directory, and creates the synthetic patients again with other ids. Keys and production data are kept. While a reset runs, a second request does not start another.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: {
      200: { description: 'The reset is complete', schema: sandboxSchema },
      202: { description: 'The reset is still running', schema: sandboxSchema },
    },
    async run(request) {
      const { id, organization } = await projectFor(request, request.params.project_id, 'developer');
      const over = await request.services.sandboxes.reset(toAuthor(request), organization, id);
      return { status: over ? 200 : 202, body: sandboxView(await request.services.sandboxes.status(id)) };
    },
  }),
];
