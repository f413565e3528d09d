/**
 * Answers requests that Node's HTTP server would otherwise answer, so that these responses also have a `Service-Request-Id`.
 */
import { type Server, type ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { newRequestId } from '#src/shared/ids.ts';

/** Options for every server. They let a request without `Host` reach the service, which refuses it (`envelope.ts`). */
export const SERVER_OPTIONS: ServerOptions = { requireHostHeader: false };

/** Error codes of Node's parser that have their own status; the status for all other codes is 400. */
const STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Makes a server answer requests that aren't valid HTTP, take too long to arrive, have headers that are too large, or expect
 * something that the service doesn't support (RFC 9110, section 10.1.1).
 */
export function answerForNode(server: Server): void {
  server.on('clientError', answerInvalid);
  server.on('checkExpectation', (_request, response) => {
    response.writeHead(417, {
      'Service-Request-Id': newRequestId(),
      'Content-Length': 0,
      Connection: 'close',
    });
    response.end();
  });
}

function answerInvalid(error: NodeJS.ErrnoException, socket: Socket): void {
  // If a response has begun, it can't be taken back, and another response in the middle of it would look like part of it.
  if (error.code === 'ECONNRESET' || !socket.writable || findAnswer(socket)?.headersSent === true) {
    socket.destroy();
    return;
  }
  const status = STATUS[error.code ?? ''] ?? '400 Bad Request';
  const fields = [`Service-Request-Id: ${newRequestId()}`, 'Content-Length: 0', 'Connection: close'];
  socket.end(`HTTP/1.1 ${status}\r\n${fields.join('\r\n')}\r\n\r\n`);
}

/** Finds the response for which a connection is waiting. Node stores it on the socket. */
export function findAnswer(socket: Socket): ServerResponse | undefined {
  const answer: unknown = Reflect.get(socket, '_httpMessage');
  return answer instanceof ServerResponse ? answer : undefined;
}
