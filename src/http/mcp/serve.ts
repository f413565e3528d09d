/** Serves `/mcp` requests with the MCP library. This module is loaded at the first request. */
import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { answerMessage } from '#src/mcp/answer.ts';
import { readFileText } from '#src/mcp/file-text.ts';
import { type Call, printUrl, type Reach, type Reply } from '#src/mcp/reach.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import type { Answer } from '../answer/answer.ts';
import type { OpenService } from '../api/open-route.ts';
import { VERSION } from '../version.ts';
import { McpReceipt } from './receipt.ts';

/** A request, its caller, and the body with its numbers as they were sent. */
export interface McpRequest {
  readonly service: OpenService;
  readonly ctx: Context;
  readonly credential: string;
  readonly caller: Caller;
  readonly body: Json;
}

/**
 * Answers the request after its receipt and its reads have been written to the access log.
 * @throws errors of the service
 */
export async function serveMcp({ service, ctx, credential, caller, body }: McpRequest): Promise<Answer> {
  let action: string | undefined;
  let asked = 0;
  const grant = findGrant(caller);
  const headers = passHeaders(ctx);
  const receipt = new McpReceipt({
    caller,
    grant,
    body,
    headers,
    baseUrl: service.baseUrl,
    version: VERSION,
  });
  const ask = async (call: Call): Promise<Reply> => {
    // The incoming request has already been counted for the tool's first request.
    asked += 1;
    const reply = receipt.begin();
    if (asked > 1) await service.limits.further(ctx, caller, 1);
    const inner = { method: call.method ?? 'GET', url: printUrl(call), body: call.body } as const;
    const by = { caller, action: action ?? 'mcp', gather: reply.gather };
    return reply.end(await readAnswer(await service.inner.answer(ctx, credential, inner, by)), call.path);
  };
  const reach: Reach = {
    ...{ base: service.baseUrl, ask, grant: async () => grant, exact: argumentsIn(body) },
    readFile: async (mediaType, bytes) => receipt.keepText(mediaType, await readFileText(mediaType, bytes)),
  };
  const runs = (tool: string): void => {
    action = tool;
  };
  try {
    const message = { body, headers, version: VERSION, reach, hasGrant: grant !== undefined, runs };
    const { status, contentType, text } = await answerMessage(message);
    const sha256 = createHash('sha256').update(text).digest();
    if (action !== undefined) await receipt.write(service, { text, sha256 });
    return { status, headers: { 'Content-Type': contentType }, ...(text === '' ? {} : { body: text }) };
  } catch (error) {
    receipt.note(service.accessLog);
    throw error;
  }
}

/** Returns the caller's grant in the form that tools need. */
function findGrant({ sees: { within }, calls: { credential } }: Caller) {
  if (within === undefined) return undefined;
  return {
    patient: within.patient,
    grantId: credential.kind === 'grant' ? credential.grantId : undefined,
    access: within.access,
  };
}

/** Headers that belong to MCP's transport, and headers that say what the client accepts. */
const PASSED = /^(?:accept|mcp-[\w-]+)$/;

function passHeaders({ req }: Context): Record<string, string> {
  const passed = Object.entries(req.headers).filter(
    ([name, value]) => PASSED.test(name) && value !== undefined,
  );
  return Object.fromEntries(passed.map(([name, value]) => [name, String(value)]));
}

/** Returns the arguments of a tool call. */
export function argumentsIn(body: Json): JsonObject | undefined {
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
