/** Requests to issuers: bounded in time and size, and redirects are not followed. */
import type { CustomFetch } from 'openid-client';
import { IssuerAway } from '#src/identity/fetch-json.ts';

/** Longest time of a request, from connecting to the last byte of the answer, in ms. */
const PATIENCE_MS = 5_000;
/** Largest answer, in bytes. */
const MOST_BYTES = 256 * 1024;
/** Statuses whose answers have no body. */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * Sends a request to an issuer.
 * @throws IssuerAway without an answer, and for one that says that the issuer can't answer now (5xx, 429)
 */
export const boundedFetch: CustomFetch = async (url, { body, method, headers }) => {
  const where = withoutQuery(url);
  let response: Response;
  let content: Uint8Array<ArrayBuffer>;
  try {
    response = await fetch(url, {
      ...(body === undefined || body === null ? {} : { body: String(body) }),
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    content = await bodyOf(response, where);
  } catch (error) {
    if (error instanceof IssuerAway) throw error;
    throw new IssuerAway(`${where} can't be reached`, { cause: error });
  }
  const { status } = response;
  if (status >= 500 || status === 429) throw new IssuerAway(`${where} returned ${status}`);
  return new Response(WITHOUT_BODY.has(status) ? null : content, { status, headers: response.headers });
};

async function bodyOf({ body }: Response, where: string): Promise<Uint8Array<ArrayBuffer>> {
  if (body === null) return new Uint8Array();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.byteLength;
    if (bytes > MOST_BYTES) throw new IssuerAway(`${where} returned more than ${MOST_BYTES} bytes`);
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}

function withoutQuery(url: string): string {
  return url.split('?', 1)[0] ?? '';
}
