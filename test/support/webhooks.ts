/** Calls the webhooks interface for tests. */

import type { InProcess, KeyedCall } from './in-process.ts';
import { eventually } from './process.ts';
import type { Answer } from './service.ts';

/** The part of a service that tests use. */
type Asked = Pick<InProcess, 'url' | 'fhir'>;

/** An endpoint in a response. */
export interface ShownEndpoint {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  readonly active: boolean;
  readonly failure_streak: number;
  readonly last_success_at: string | null;
  readonly last_failure_at: string | null;
}

/** A delivery in a response. */
export interface ShownDelivery {
  readonly id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly status: string;
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  readonly last_status_code: number | null;
  readonly last_error: string | null;
  readonly delivered_at: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
}

/**
 * Sends a request to `/v1/webhooks` or below it.
 * @param path begins with a slash, or is empty
 */
export function hooks(
  service: Asked,
  method: string,
  path: string,
  body?: object,
  call: KeyedCall = {},
): Promise<Answer> {
  return service.fhir(`${service.url}/v1/webhooks${path}`, {
    ...call,
    method,
    headers: { 'Content-Type': 'application/json', ...call.headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/**
 * Creates an endpoint.
 * @throws Error if it isn't created
 */
export async function endpointAt(
  service: Asked,
  url: string,
  events: readonly string[] = ['*'],
  call: KeyedCall = {},
): Promise<ShownEndpoint> {
  const answer = await hooks(service, 'POST', '', { url, events }, call);
  if (answer.status !== 201) throw new Error(`POST /v1/webhooks: ${answer}`);
  return JSON.parse(answer.text) as ShownEndpoint;
}

/** Waits until an endpoint's deliveries meet a test's condition, and returns them, newest first. */
export async function deliveriesOf(
  service: Asked,
  endpointId: string,
  wanted: (deliveries: readonly ShownDelivery[]) => boolean,
  query = '',
  key?: string,
): Promise<readonly ShownDelivery[]> {
  const call = key === undefined ? {} : { key };
  let found: readonly ShownDelivery[] = [];
  await eventually(async () => {
    const path = `/${endpointId}/deliveries?limit=200${query}`;
    const answer = await hooks(service, 'GET', path, undefined, call);
    found = (JSON.parse(answer.text) as { data: ShownDelivery[] }).data;
    return wanted(found);
  }).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${JSON.stringify(found).slice(0, 2_000)}`);
  });
  return found;
}
