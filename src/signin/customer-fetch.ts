/** Sends requests to issuers that organizations specify: like `boundedFetch`, but only to addresses that are allowed. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { CustomFetch } from 'openid-client';
import type { CustomerHosts } from '#src/shared/customer-hosts.ts';
import { answered, PATIENCE_MS } from './bounded-fetch.ts';

/**
 * Returns the function that sends requests.
 * @param hosts looks up the issuers' hosts, and refuses those that aren't allowed
 */
export function customerFetch(hosts: CustomerHosts): CustomFetch {
  return (url, { body, method, headers }) =>
    answered(url, async () => {
      const target = new URL(url);
      hosts.check(target.hostname.replace(/^\[|\]$/g, ''));
      const text = body === undefined || body === null ? undefined : String(body);
      const answer = await send(target, { method, headers: { ...headers }, lookup: hosts.lookup }, text);
      const fields = Object.entries(answer.headers).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, [value].flat().join(', ')]],
      );
      return { status: answer.statusCode ?? 502, headers: new Headers(fields), body: answer };
    });
}

function send(
  url: URL,
  options: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly lookup: CustomerHosts['lookup'];
  },
  body: string | undefined,
): Promise<IncomingMessage> {
  const request = url.protocol === 'http:' ? httpRequest : httpsRequest;
  return new Promise((resolve, reject) => {
    request(url, { ...options, signal: AbortSignal.timeout(PATIENCE_MS) }, resolve)
      .on('error', reject)
      .end(body);
  });
}
