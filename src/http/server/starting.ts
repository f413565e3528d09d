/** Answers on the port while the service starts, so that a supervisor can see that the process is alive and working. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import Koa from 'koa';
import { newRequestId } from '#src/shared/ids.ts';
import { unavailable } from '#src/shared/refusal.ts';
import { fhirError, jsonError } from '../errors.ts';
import { refusalPage } from '../pages/refusal-page.ts';
import { answerForNode, SERVER_OPTIONS } from './node-answers.ts';

/** Seconds before a client should retry. */
const RETRY_SECONDS = 10;

/** The service's address. */
export interface StartingAt {
  readonly host: string;
  readonly port: number;
  readonly baseUrl: string;
}

/**
 * Listens until startup continues: `/health/live` returns 200, all other paths 503.
 * @param say returns a description of what the service is doing.
 * @returns a function that closes the port again.
 * @throws NodeJS.ErrnoException if listening fails
 */
export async function answerWhileStarting(
  { host, port, baseUrl }: StartingAt,
  say: () => string,
): Promise<() => Promise<void>> {
  const contexts = new Koa();
  const server = createServer(SERVER_OPTIONS, (request, response) => {
    const requestId = newRequestId();
    const [pathname = '/'] = (request.url ?? '/').split('?');
    const send = (status: number, text: string, given: Readonly<Record<string, string>> = {}): void => {
      const headers = {
        'Service-Request-Id': requestId,
        'Content-Type': 'application/json',
        'Cache-Control': 'no-store',
        Connection: 'close',
        ...(status === 503 ? { 'Retry-After': String(RETRY_SECONDS) } : {}),
        ...given,
      };
      response.writeHead(status, headers).end(request.method === 'HEAD' ? '' : text);
    };
    const message = say();
    if (pathname === '/health/live') send(200, JSON.stringify({ status: 'live' }));
    else if (pathname === '/health/ready') {
      const checks = { projections: 'unavailable' };
      send(
        503,
        JSON.stringify({ status: 'unavailable', checks, message: `not ready: projections (${message})` }),
      );
    } else {
      const refusal = unavailable(`the service is starting: ${message}`, RETRY_SECONDS);
      const context = contexts.createContext(request, response);
      context.state.requestId = requestId;
      const page = refusalPage(context, refusal, baseUrl);
      if (page !== undefined) return send(503, String(page.body), page.headers);
      const isFhir = pathname.startsWith('/fhir/');
      const answer = isFhir ? fhirError(refusal) : jsonError(refusal, requestId, baseUrl);
      send(503, String(answer.body), {
        'Content-Type': isFhir ? 'application/fhir+json' : 'application/json',
      });
    }
  });
  answerForNode(server);
  server.listen(port, host);
  await once(server, 'listening');
  return async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
}
