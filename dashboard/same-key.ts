/** Keeps the Idempotency-Key of a write whose response was lost, so that the person's next attempt can't write twice. */

const KEY = 'Idempotency-Key';

/**
 * Returns a `fetch` that sends a POST without a response again with the key of the first attempt, until a response arrives.
 * Responses with 5xx, and a 409 because the first attempt is still running, leave open whether something was written
 * (docs/spec/decisions.md, section 3).
 */
export function withSameKey(send: typeof fetch): typeof fetch {
  /** The keys of requests without a response, by everything else that identifies the request. */
  const unanswered = new Map<string, string>();
  return async (url, init = {}) => {
    const headers = new Headers(init.headers);
    const key = headers.get(KEY);
    headers.delete(KEY);
    if (key === null || (init.body !== undefined && typeof init.body !== 'string')) return send(url, init);
    const request = JSON.stringify([String(url), init.body, [...headers]]);
    const first = unanswered.get(request) ?? key;
    unanswered.set(request, first);
    headers.set(KEY, first);
    const answer = await send(url, { ...init, headers });
    const isOpen = answer.status >= 500 || (answer.status === 409 && answer.headers.has('Retry-After'));
    // A response can also be lost after its head has arrived.
    const body = await answer.arrayBuffer();
    if (!isOpen) unanswered.delete(request);
    return new Response(body.byteLength === 0 ? null : body, answer);
  };
}
