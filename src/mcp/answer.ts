/**
 * Answers an MCP message over HTTP. Pure apart from the tools' requests: if these get the same answers, the result has the
 * same bytes.
 */
import { createMcpHandler } from '@modelcontextprotocol/server';
import { type Json, printJson } from '#src/shared/json/json.ts';
import { Exact } from './exact.ts';
import type { Reach } from './reach.ts';
import { makeServer } from './server.ts';

/**
 * The version of the rules for answering messages. Increment it with every change after which the same message gets a
 * different answer; otherwise, `test/receipts/forms.test.ts` fails.
 */
export const MCP_FORM = 4;

/** A message, and the way in which its tools reach the interfaces. */
export interface McpMessage {
  readonly body: Json;
  /** Headers that say what the client accepts, and headers of MCP's transport. */
  readonly headers: Readonly<Record<string, string>>;
  /** The version of the service. */
  readonly version: string;
  readonly reach: Reach;
  readonly hasGrant: boolean;
  /** Called with a tool's name before the tool runs. */
  readonly runs: (tool: string) => void;
}

/** An answer over HTTP. */
export interface McpAnswer {
  readonly status: number;
  readonly contentType: string;
  /** Empty if the answer has no body. */
  readonly text: string;
}

/**
 * Answers the message.
 * @throws errors of the service, regardless of how the tool reported them
 */
export async function answerMessage({ body, headers, reach, ...server }: McpMessage): Promise<McpAnswer> {
  const exact = new Exact();
  let failure: unknown;
  const fails = (error: unknown): void => {
    failure = error;
  };
  const handler = createMcpHandler(() => makeServer({ ...server, reach, exact, fails }), {
    maxSubscriptions: 0,
    onerror: () => undefined,
  });
  const request = new Request(`${reach.base}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: '{}',
  });
  const response = await handler.fetch(request, { parsedBody: JSON.parse(printJson(body)) });
  const text = await response.text();
  if (failure !== undefined) throw failure;
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? 'application/json',
    text: exact.restore(text),
  };
}
