/**
 * Routes for a project's API keys: each key is shown once, and later identified by its last four characters
 * (docs/spec/interface.md, section 5).
 */
import { z } from 'zod';
import type { KeyRow } from '#queries/admin/projects.ts';
import { TO_WRITE } from '#src/shared/access/member.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { type Micros, toInstant, toMicros } from '#src/shared/time/time.ts';
import { route } from '../api/route.ts';
import { environment, LIST_QUERY, listSchema, PAGED } from '../api/schemas.ts';
import { keyFor, projectFor, requireRole, toAuthor } from './access.ts';
import { listed, toInstantOrNull } from './answers.ts';
import { keySchema, keyScopes, name } from './schemas.ts';

const TAG = 'API keys';

function keyView({
  id,
  project,
  name: named,
  created_at,
  last_used_at,
  expires_at,
  revoked_at,
  ...row
}: KeyRow) {
  const answer: z.input<typeof keySchema> = {
    id,
    project_id: project,
    name: named,
    environment: row.environment,
    scopes: [...row.scopes],
    last4: row.last4,
    created_at: toInstantOrNull(created_at) ?? '',
    last_used_at: toInstantOrNull(last_used_at),
    expires_at: toInstantOrNull(expires_at),
    revoked_at: toInstantOrNull(revoked_at),
  };
  return answer;
}

const newKey = z
  .strictObject({
    name,
    environment,
    scopes: keyScopes.default(['read', 'write']),
    expires_at: z.iso
      .datetime({ offset: true })
      .nullable()
      .default(null)
      .describe('When the key expires, in the future; null: never.'),
  })
  .meta({ examples: [{ name: 'server', environment: 'sandbox', scopes: ['read', 'write'] }] });

const shownKey = keySchema
  .extend({ key: z.string().describe('Shown only now; the service stores its SHA-256.') })
  .meta({ id: 'NewKey' });

/**
 * Returns a key's expiry time in microseconds.
 * @throws Refusal invalid (422) if it isn't in the future
 */
function parseEnd(text: string | null, now: Micros): Micros | null {
  if (text === null) return null;
  const end = toMicros(text);
  if (end > now) return end;
  throw new Refusal('invalid', {
    code: 'value',
    diagnostics: 'expires_at must be in the future',
    expression: 'expires_at',
  });
}

/** Routes of API keys. */
export const KEY_ROUTES = [
  route({
    method: 'POST',
    path: '/admin/projects/{project_id}/keys',
    operationId: 'createKey',
    summary: 'Create an API key',
    description:
      'The key is shown only in this answer: the service stores its hash. The key stops working at `expires_at`, if you set it. A `production` key requires production access for the project; without it, the answer is 403 and says how to ask.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    secret: true,
    body: newKey,
    answers: { 201: { description: 'The key, shown only now', schema: shownKey } },
    async run(request) {
      const { services, params, body, now } = request;
      const project = await projectFor(request, params.project_id, 'developer');
      requireRole(project.role, TO_WRITE[body.environment]);
      const expiresAt = parseEnd(body.expires_at, now());
      const asked = { ...body, expiresAt: expiresAt === null ? undefined : toInstant(expiresAt) };
      const { result, wrote } = await services.admin.createKey(toAuthor(request), project.id, asked);
      const row: KeyRow = {
        ...body,
        id: result.id,
        project: project.id,
        last4: result.key.slice(-4),
        created_at: wrote?.at ?? now(),
        expires_at: expiresAt,
        revoked_at: null,
        last_used_at: null,
      };
      return { status: 201, body: { ...keyView(row), key: result.key }, position: wrote?.position };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/keys',
    operationId: 'listKeys',
    summary: 'A project’s API keys, the newest first, including revoked ones',
    description: `${PAGED} The keys themselves are never shown again.`,
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listSchema(keySchema) } },
    async run(request) {
      const { id } = await projectFor(request, request.params.project_id, 'member');
      return listed(await request.services.adminQueries.keys(id, request.query), keyView);
    },
  }),
  route({
    method: 'DELETE',
    path: '/admin/keys/{key_id}',
    operationId: 'revokeKey',
    summary: 'Revoke an API key; it stops working at once, on every instance',
    description: 'Revoking a revoked key changes nothing.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: { 204: { description: 'The key is revoked' } },
    async run(request) {
      const key = await keyFor(request, request.params.key_id, 'developer');
      requireRole(key.role, TO_WRITE[key.environment]);
      const { wrote } = await request.services.admin.revokeKey(toAuthor(request), key.project, key.id);
      return { status: 204, position: wrote?.position, awaited: true };
    },
  }),
];
