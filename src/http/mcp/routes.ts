/** Serves `/mcp`: the Model Context Protocol over HTTP, for assistants to which a person has given access (docs/mcp.md). */
import { z } from 'zod';
import type { Json } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { type OpenService, openRoute } from '../api/open-route.ts';
import { isAccessToken, unauthenticated } from '../credential-kinds.ts';
import { readCredential } from '../credentials.ts';

const PATH = '/mcp';

let serving: Promise<typeof import('./serve.ts')> | undefined;

/** Loads the MCP library at the first request. Later requests bypass the module loader, which takes a millisecond. */
const loadServing = (): Promise<typeof import('./serve.ts')> => (serving ??= import('./serve.ts'));

const message = z.record(z.string(), z.custom<Json>()).meta({
  description: 'A JSON-RPC message of MCP.',
  examples: [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }],
});

export const MCP_ROUTES = [
  openRoute({
    method: 'POST',
    path: PATH,
    operationId: 'callMcp',
    summary: 'Model Context Protocol for assistants',
    description:
      'MCP 2026-07-28 and 2025-11-25, streamable HTTP without sessions. Accepts only access tokens whose `resource` is this URL.',
    tag: 'Timeline and context',
    takesGrantToken: true,
    body: message,
    bodyLater: true,
    answers: {
      200: { description: 'The answer', schema: message },
      202: { description: 'A notification was accepted' },
    },
    errors: [400, 401, 403, 413, 415],
    async run({ service, ctx, body, header }) {
      const resource = service.baseUrl + PATH;
      refuseForeignOrigin(service, header('origin'));
      const credential = readCredential(
        ctx.req,
        ctx.querystring,
        `Authorization: Bearer <access token for ${resource}>`,
      );
      if (!isAccessToken(credential)) throw onlyTokens(resource);
      const caller = await service.inner.admit(ctx, credential, resource);
      if (body === undefined)
        throw new Refusal('malformed', { code: 'required', diagnostics: 'the request has no body' });
      const { serveMcp } = await loadServing();
      return serveMcp({ service, ctx, credential, caller, body });
    },
  }),
];

function onlyTokens(resource: string): Refusal {
  return unauthenticated(
    `${resource} takes only access tokens (at_…) whose resource names it`,
    'invalid_token',
  );
}

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

/**
 * Refuses scripts from pages that aren't on the service's own host, including a page whose name was rebound to this address
 * (MCP 2026-07-28, "Streamable HTTP"). If the service is at a loopback address, pages from any loopback address are accepted.
 * @throws Refusal forbidden (403)
 */
function refuseForeignOrigin({ baseUrl }: Pick<OpenService, 'baseUrl'>, origin: string | undefined): void {
  if (origin === undefined) return;
  const own = new URL(baseUrl);
  if (origin === own.origin) return;
  if (LOOPBACK.test(own.hostname) && URL.canParse(origin) && LOOPBACK.test(new URL(origin).hostname)) return;
  throw new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics: `requests from pages at origins other than ${own.origin} are refused`,
    expression: 'http.origin',
  });
}
