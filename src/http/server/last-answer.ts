/** Sends the last-resort response, for the case that building an error response fails too. */
import type { ServerResponse } from 'node:http';

/**
 * Responds 500 with a constant body that both FHIR clients and others can read. If a response has already begun, closes the
 * connection instead. Never throws.
 */
export function answerWithoutWords(response: ServerResponse, requestId: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.statusCode = 500;
  response.setHeader('Service-Request-Id', requestId);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end(BODY);
}

const MESSAGE = 'internal error; the service logged it under the request id in Service-Request-Id';
const BODY = JSON.stringify({
  resourceType: 'OperationOutcome',
  issue: [{ severity: 'error', code: 'exception', diagnostics: MESSAGE }],
  error: { type: 'internal', message: MESSAGE },
});
