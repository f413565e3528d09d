/** The official MCP client, connected to a service. */
import { fileURLToPath } from 'node:url';
import {
  Client,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { Answer } from './service.ts';

/** A tool's result, as tests read it. */
export interface ToolResult {
  /** All of its texts. */
  readonly text: string;
  readonly structured: JsonObject;
  readonly isError: boolean;
  /** URLs of the versions that the result links to. */
  readonly links: readonly string[];
  readonly content: readonly JsonObject[];
}

/** The protocol revisions that the service supports. */
export const REVISIONS = ['2026-07-28', '2025-11-25'] as const;

/**
 * Connects a client with an access token.
 * @param revision the protocol revision that the client uses
 */
export async function connectMcp(
  url: string,
  token: string,
  revision: (typeof REVISIONS)[number] = '2026-07-28',
): Promise<Client> {
  const mode = revision === '2026-07-28' ? { mode: { pin: revision } } : { mode: 'legacy' as const };
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: mode });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  return client;
}

/** Calls a tool. */
export async function callTool(client: Client, name: string, args: object = {}): Promise<ToolResult> {
  const result = await client.callTool({ name, arguments: { ...args } });
  const content: JsonObject[] = JSON.parse(JSON.stringify(result.content));
  return {
    text: content.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n'),
    structured: isObject(result.structuredContent) ? result.structuredContent : {},
    isError: result.isError === true,
    links: content.flatMap(({ type, uri }) => (type === 'resource_link' ? [String(uri)] : [])),
    content,
  };
}

/** Starts `annal mcp` with a credential, and connects a client to it. */
export async function connectStdio(url: string, key: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: ['bin/annal.js', 'mcp', '--url', url, '--key', key],
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
    }),
  );
  return client;
}

/**
 * An assistant that gets access through a browser. `begin` returns the URL that the person opens first; `finish` takes their
 * answer.
 */
export interface Assistant {
  begin(): Promise<string>;
  finish(answer: URL): Promise<Client>;
}

/** Returns an assistant that uses the official client, which discovers the authorization server itself. */
export function makeAssistant(url: string, clientId: string, redirectUrl: string): Assistant {
  let verifier = '';
  let tokens: OAuthTokens | undefined;
  let first: URL | undefined;
  const authProvider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl], client_name: 'Assistant' },
    clientInformation: () => ({ client_id: clientId }),
    tokens: () => tokens,
    saveTokens(given) {
      tokens = given;
    },
    redirectToAuthorization(to) {
      first = to;
    },
    saveCodeVerifier(given) {
      verifier = given;
    },
    codeVerifier: () => verifier,
    state: () => 'state-of-the-assistant',
  };
  const connect = async (): Promise<Client> => {
    const client = new Client(
      { name: 'assistant', version: '1.0.0' },
      { versionNegotiation: { mode: 'auto' } },
    );
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider }));
    return client;
  };
  return {
    async begin() {
      await connect().catch((error: unknown) => {
        if (!(error instanceof UnauthorizedError)) throw error;
      });
      if (first === undefined) throw new Error('the client did not ask for access');
      return first.href;
    },
    async finish({ searchParams }) {
      const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider });
      await transport.finishAuth(searchParams);
      return connect();
    },
  };
}

/** Sends one message to `/mcp`, and returns the raw response. */
export async function postMcp(url: string, token: string, method: string, params: object): Promise<Answer> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      Authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return new Answer(response.status, response.headers, await response.text());
}
