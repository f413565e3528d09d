/** Sends requests to issuers, limited in time and size; redirects are not followed. */
import type { CustomFetch } from 'openid-client';
import { IssuerAway } from '#src/identity/fetch-json.ts';

/** The maximum duration of a request, from connecting to the last byte of the answer, in ms. */
export const PATIENCE_MS = 5_000;
/** The maximum size of an answer, in bytes. */
const MOST_BYTES = 256 * 1024;
/** Statuses whose responses have no body. */
const WITHOUT_BODY = new Set([204, 205, 304]);

/** An issuer's answer. */
interface Sent {
  readonly status: number;
  readonly headers: Headers;
  readonly body: AsyncIterable<Uint8Array> | null;
}

/**
 * Sends a request to one of the installation's issuers.
 * @throws IssuerAway if the issuer doesn't answer, or answers that it is temporarily unable to (5xx, 429)
 */
export const boundedFetch: CustomFetch = (url, { body, method, headers }) =>
  answered(url, () =>
    fetch(url, {
      ...(body === undefined || body === null ? {} : { body: String(body) }),
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
    }),
  );

/**
 * Returns the whole answer to a request.
 * @param send sends the request, which must be finished within `PATIENCE_MS`, including the last byte of the answer
 * @throws IssuerAway in the same cases as `boundedFetch`, and for an answer that is too long
 */
export async function answered(url: string, send: () => Promise<Sent>): Promise<Response> {
  const where = withoutQuery(url);
  let sent: Sent;
  let content: Uint8Array<ArrayBuffer>;
  try {
    sent = await send();
    content = await readBounded(sent, where);
  } catch (error) {
    if (error instanceof IssuerAway) throw error;
    throw new IssuerAway(`${where} can't be reached`, { cause: error });
  }
  const { status, headers } = sent;
  if (status >= 500 || status === 429) throw new IssuerAway(`${where} returned ${status}`);
  return new Response(WITHOUT_BODY.has(status) ? null : content, { status, headers });
}

async function readBounded({ body }: Sent, where: string): Promise<Uint8Array<ArrayBuffer>> {
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
