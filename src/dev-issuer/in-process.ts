/**
 * Calls the development issuer without HTTP for the service's own sign-in, because a service in a container may be unable to
 * reach its own BASE_URL. People still visit the sign-in page in their browser.
 */
import type { DevIssuer } from './dev-issuer.ts';
import { discoveryDocument } from './discovery.ts';
import { tokenAnswer } from './token.ts';

/** Handles a request to one of the issuer's URLs as if it had come over HTTP; returns 404 for other URLs. */
export async function answerInProcess(
  issuer: DevIssuer,
  url: string,
  { method, body }: { readonly method: string; readonly body?: unknown },
): Promise<Response> {
  const path = url.startsWith(`${issuer.issuer}/`) ? url.slice(issuer.issuer.length) : '';
  if (method === 'GET' && path === '/.well-known/openid-configuration')
    return Response.json(discoveryDocument(issuer.issuer));
  if (method === 'GET' && path === '/jwks') return Response.json(await issuer.jwks());
  if (method === 'POST' && path === '/token') {
    const form = body instanceof URLSearchParams ? body : new URLSearchParams(String(body ?? ''));
    const answer = await tokenAnswer(issuer, form);
    return Response.json(answer.body, { status: answer.status });
  }
  return new Response(null, { status: 404 });
}
