/**
 * `annal mcp`: provides the tools of `/mcp` on standard input and output, for development, with an API key or an access token.
 */
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { askJson, objectsIn, readText, textsIn } from '#src/mcp/ask.ts';
import { Exact } from '#src/mcp/exact.ts';
import { ExactInput } from '#src/mcp/exact-input.ts';
import { ToolFault } from '#src/mcp/fault.ts';
import { readFileText } from '#src/mcp/file-text.ts';
import { type Call, type OwnGrant, printUrl, type Reach, type Reply } from '#src/mcp/reach.ts';
import { makeServer } from '#src/mcp/server.ts';
import { parseAccess } from '#src/oauth/tokens/access.ts';
import { Failure } from './failure.ts';
import { findService, type Service, type ServiceOptions } from './service.ts';

/** Maximum duration of a request, in ms. */
const REQUEST_MS = 120_000;

/** The options on the command line. */
export interface McpOptions extends ServiceOptions {
  /** This program's version. */
  readonly version: string;
  readonly signal: AbortSignal;
}

/**
 * Serves until standard input ends.
 * @throws Failure if the service refuses the credential
 */
export async function mcpCommand({ version, signal, ...options }: McpOptions): Promise<void> {
  const service = await findService(options);
  const grant = await findGrant(service);
  const reach: Reach = {
    base: service.url,
    ask: (call) => ask(service, call),
    grant: async () => grant,
    readFile: readFileText,
  };
  const exact = new Exact();
  const input = process.stdin.pipe(new ExactInput());
  const output = new Writable({
    decodeStrings: false,
    write(message: string, _, done) {
      process.stdout.write(exact.restore(String(message)), done);
    },
  });
  const ended = once(input, 'end', { signal }).catch(() => undefined);
  const serving = serveStdio(
    () =>
      makeServer({
        ...{ version, reach, exact, hasGrant: grant !== undefined },
        exactArguments: (call) => input.takeArguments(call),
        runs: () => undefined,
        fails: report,
      }),
    {
      transport: new StdioServerTransport(input, output),
      maxSubscriptions: 0,
      onerror: report,
    },
  );
  await ended;
  await serving.close();
}

function report(error: unknown): void {
  process.stderr.write(`annal mcp: ${error instanceof Error ? error.message : String(error)}\n`);
}

async function ask({ url, key }: Service, call: Call): Promise<Reply> {
  const { method = 'GET', body } = call;
  const response = await fetch(url + printUrl(call), {
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      Accept: '*/*',
      Prefer: 'handling=strict',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(REQUEST_MS),
  });
  return {
    status: response.status,
    body: Buffer.from(await response.arrayBuffer()),
    retryAfter: response.headers.get('retry-after') ?? undefined,
  };
}

/**
 * Returns an access token's grant; undefined if the credential can see a whole project.
 * @throws Failure if the credential gives access to neither a record nor a project
 */
async function findGrant(service: Service): Promise<OwnGrant | undefined> {
  const own = { base: service.url, ask: (call: Call) => ask(service, call), readFile: readFileText };
  const reach: Reach = { ...own, grant: async () => undefined };
  try {
    const [first] = objectsIn((await askJson(reach, { path: '/v1/patients', query: { limit: 1 } })).data);
    const patient = readText(first?.id);
    if (patient === undefined || !service.key.startsWith('at_')) return undefined;
    // Proposals are accessible only under a grant.
    const below = `/v1/patients/${patient}`;
    const { status } = await reach.ask({ path: `${below}/proposals`, query: { limit: 1 } });
    if (status === 403) return undefined;
    const { data } = await askJson(reach, { path: `${below}/grants`, query: { limit: 100 } });
    const active = objectsIn(data).filter((each) => each.status === 'active');
    const scopes = active.flatMap((each) => textsIn(each.scopes));
    return { patient, grantId: undefined, access: parseAccess(scopes) };
  } catch (error) {
    if (error instanceof ToolFault) throw new Failure(`${service.url}: ${error.message}`);
    throw error;
  }
}
