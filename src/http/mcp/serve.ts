/** Serves a request of `/mcp` with the MCP library, which is loaded with the first of them. */
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Context } from 'koa';
import { Exact } from '#src/mcp/exact.ts';
import { type Call, printUrl, type Reach, type Reply } from '#src/mcp/reach.ts';
import { makeServer } from '#src/mcp/server.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { isObject, type Json, type JsonObject, printJson } from '#src/shared/json/json.ts';
import type { Answer } from '../answer/answer.ts';
import type { OpenService } from '../api/open-route.ts';
import { VERSION } from '../version.ts';

/** A request, its caller, and the body with numbers as they were sent. */
export interface McpRequest {
  readonly service: OpenService;
  readonly ctx: Context;
  readonly credential: string;
  readonly caller: Caller;
  readonly body: Json;
}

/** Answers it. @throws errors of the service */
export async function serveMcp({ service, ctx, credential, caller, body }: McpRequest): Promise<Answer> {
  const exact = new Exact();
  let action = 'mcp';
  let asked = 0;
  let failure: unknown;
  const ask = async (call: Call) => {
    // The first request of a tool is the one that came.
    asked += 1;
    if (asked > 1) await service.limits.further(ctx, caller, 1);
    const inner = { method: call.method ?? 'GET', url: printUrl(call), body: call.body } as const;
    return readAnswer(await service.inner.answer(ctx, credential, inner, { caller, action }));
  };
  const { within } = caller.sees;
  const { credential: held } = caller.calls;
  const grant =
    within === undefined
      ? undefined
      : {
          patient: within.patient,
          grantId: held.kind === 'grant' ? held.grantId : undefined,
          access: within.access,
        };
  const reach: Reach = { base: service.baseUrl, ask, grant: async () => grant, exact: argumentsIn(body) };
  const handler = createMcpHandler(
    () =>
      makeServer({
        ...{ version: VERSION, reach, exact, hasGrant: grant !== undefined },
        runs: (tool) => {
          action = tool;
        },
        fails: (error) => {
          failure = error;
        },
      }),
    { maxSubscriptions: 0, onerror: () => undefined },
  );
  const response = await handler.fetch(toRequest(service, ctx), { parsedBody: JSON.parse(printJson(body)) });
  const text = await response.text();
  if (failure !== undefined) throw failure;
  return {
    status: response.status,
    headers: { 'Content-Type': response.headers.get('content-type') ?? 'application/json' },
    ...(text === '' ? {} : { body: exact.restore(text) }),
  };
}

/** Headers of MCP's transport, and those that say what the client takes. */
const PASSED = /^(?:accept|mcp-[\w-]+)$/;

function toRequest({ baseUrl }: OpenService, { req }: Context): Request {
  const headers = new Headers({ 'content-type': 'application/json' });
  for (const [name, value] of Object.entries(req.headers))
    if (PASSED.test(name) && value !== undefined) headers.set(name, String(value));
  return new Request(`${baseUrl}/mcp`, { method: 'POST', headers, body: '{}' });
}

/** Returns the arguments of a tool's call. */
function argumentsIn(body: Json): JsonObject | undefined {
  const params = isObject(body) ? body.params : undefined;
  const given = isObject(params) ? params.arguments : undefined;
  return isObject(given) ? given : undefined;
}

async function readAnswer({ status, headers, body, content, stream }: Answer): Promise<Reply> {
  return {
    status,
    body: body ?? (await collect(content === undefined ? (stream ?? []) : await content.open())),
    retryAfter: headers['Retry-After'],
  };
}

async function collect(source: AsyncIterable<string | Buffer> | readonly never[]): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of source) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}
