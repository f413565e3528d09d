/** Answers a message of MCP over HTTP. Pure but for the requests of the tools: the same answers to these give the same bytes. */
import { createMcpHandler } from '@modelcontextprotocol/server';
import { type Json, printJson } from '#src/shared/json/json.ts';
import { Exact } from './exact.ts';
import type { Reach } from './reach.ts';
import { makeServer } from './server.ts';

/**
 * The version of the rules by which messages are answered. Raise it with every change after which the same message gets
 * another answer: `test/receipts/forms.test.ts` fails otherwise.
 */
export const MCP_FORM = 2;

/** A message, and the way of its tools to the interfaces. */
export interface McpMessage {
  readonly body: Json;
  /** Those that say what the client takes, and those of MCP's transport. */
  readonly headers: Readonly<Record<string, string>>;
  /** The version of the service. */
  readonly version: string;
  readonly reach: Reach;
  readonly hasGrant: boolean;
  /** Told which tool runs, before it does. */
  readonly runs: (tool: string) => void;
}

/** An answer over HTTP. */
export interface McpAnswer {
  readonly status: number;
  readonly contentType: string;
  /** Empty: there is no body. */
  readonly text: string;
}

/** Answers it. @throws errors of the service, whatever the tool made of them */
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
