/** `annal webhooks listen`: receives deliveries on this machine, verifies them and prints them, for developing a receiver. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { verify } from '#src/reactions/webhooks/signature.ts';
import { expectAction, Failure } from '../failure.ts';
import { findService, type Service, type ServiceOptions } from '../service.ts';

/** The command-line options. */
export interface WebhooksOptions extends ServiceOptions {
  /** Prints one JSON line per delivery. */
  readonly json?: boolean;
  /** The port to listen on; default: any free port. */
  readonly port?: number;
  /** Event types, separated by commas; default: all. */
  readonly events?: string;
  /** The secret of an existing endpoint with this URL. If given, no endpoint is created. */
  readonly secret?: string;
  readonly signal: AbortSignal;
}

/** The maximum accepted body size, in bytes; deliveries are less than a thousandth of that. */
const MOST = 1_000_000;

/**
 * Listens until interrupted. Without a secret, it creates an endpoint on the service and deletes it at the end.
 * @throws Failure if the port is in use or the service refuses the request.
 */
export async function webhooksCommand(action: string, options: WebhooksOptions): Promise<void> {
  expectAction('webhooks', action, ['listen']);
  const { signal, secret } = options;
  const secrets: string[] = secret === undefined ? [] : [secret];
  const server = createServer((request, response) => {
    void receive(request, response, secrets, options.json ?? false).catch(() => response.destroy());
  });
  const url = await listen(server, options.port ?? 0);
  try {
    if (secret === undefined) {
      const service = await findService(options);
      const endpoint = await makeEndpoint(service, url, options.events);
      secrets.push(endpoint.secret);
      say(options, `listening at ${url} as ${endpoint.id}; press Ctrl-C to stop`);
      try {
        await interrupted(signal);
      } finally {
        await call(service, 'DELETE', `/${endpoint.id}`);
      }
    } else {
      say(options, `listening at ${url}; press Ctrl-C to stop`);
      await interrupted(signal);
    }
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

function say({ json }: WebhooksOptions, text: string): void {
  // If a program reads standard output, only deliveries are printed there.
  (json === true ? process.stderr : process.stdout).write(`${text}\n`);
}

async function listen(server: Server, port: number): Promise<string> {
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new Failure(`cannot listen on port ${port}: ${error instanceof Error ? error.message : ''}`);
  }
  return `http://localhost:${(server.address() as AddressInfo).port}/`;
}

function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  secrets: readonly string[],
  json: boolean,
): Promise<void> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MOST) throw new Error('too long');
    parts.push(part);
  }
  const body = Buffer.concat(parts);
  const signature = String(request.headers['service-signature'] ?? '');
  const genuine = secrets.some((secret) => verify(secret, body, signature));
  // A receiver returns 400 for a delivery with an invalid signature (docs/spec/interface.md, section 7).
  response.writeHead(genuine ? 204 : 400).end();
  const name = (header: string): string => String(request.headers[header] ?? '-');
  const shown = {
    received_at: new Date().toISOString(),
    genuine,
    event: name('service-event'),
    event_id: name('service-event-id'),
    delivery: name('service-delivery'),
    body: body.toString('utf8'),
  };
  const line = json
    ? JSON.stringify(shown)
    : `${shown.received_at} ${genuine ? 'ok ' : 'NOT GENUINE'} ${shown.event} ${shown.delivery}\n  ${shown.body}`;
  process.stdout.write(`${line}\n`);
}

const made = z.object({ id: z.string(), secret: z.string() });
const refused = z.object({ error: z.object({ message: z.string() }) });

async function makeEndpoint(service: Service, url: string, events: string | undefined) {
  const body = { url, events: events?.split(',') ?? ['*'], description: 'annal webhooks listen' };
  return made.parse(await call(service, 'POST', '', body));
}

async function call({ url, key }: Service, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${url}/v1/webhooks${path}`, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  const value: unknown = text === '' ? undefined : JSON.parse(text);
  if (response.ok) return value;
  const said = refused.safeParse(value);
  throw new Failure(said.success ? said.data.error.message : `${method} ${path}: HTTP ${response.status}`);
}
