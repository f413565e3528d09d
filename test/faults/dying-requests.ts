/**
 * POST requests with an Idempotency-Key that are sent to a service that dies while handling them, and then sent again to a
 * live service.
 */
import { expect } from 'chai';
import { newUuid } from '#src/shared/ids.ts';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { eventually } from '#test/support/process.ts';
import { type Answer, type Call, type Service, startService } from '#test/support/service.ts';
import { holdLead } from './held-lead.ts';

/** Identifier system of the resources that these requests write. */
export const SYSTEM = 'urn:annal:test';

/** A request, and the append after which the service that received the request dies (see `dying-service.ts`). */
export interface DyingRequest {
  readonly diesAfter: string;
  /** Relative to the FHIR base, or to the root if it begins with `/admin` or `/v1`. */
  readonly path: string;
  readonly call: Call;
}

const send = ({ url, fhir }: Service, { path, call }: DyingRequest): Promise<Answer> =>
  fhir(/^\/(?:admin|v1)\//.test(path) ? url + path : path, call);

/** Returns a POST with its own Idempotency-Key. */
export function post(
  diesAfter: string,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): DyingRequest {
  const all = { 'Idempotency-Key': newUuid(), Prefer: 'return=representation', ...headers };
  return { diesAfter, path, call: { method: 'POST', body: JSON.stringify(body), headers: all } };
}

/** The service where a request dies: it uses `dataDir`, and the database and key of a live service. */
export interface DyingPlace {
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly key: string;
  /** Default: its own. */
  readonly baseUrl?: string;
}

/**
 * Sends a request to a service that dies after an append. If that append is to the directory, no other instance may carry out
 * that append first.
 */
export async function sendToDying({ baseUrl, ...place }: DyingPlace, request: DyingRequest): Promise<void> {
  const dying = await startService({
    ...place,
    program: 'test/faults/dying-service.ts',
    env: { ...(baseUrl === undefined ? {} : { BASE_URL: baseUrl }), DIES_AFTER: request.diesAfter },
  });
  const isDirectory = request.diesAfter.startsWith('directory-');
  const release = isDirectory ? await holdLead(place.databaseUrl, 'directory-entries') : undefined;
  const answer = await send(dying, request).catch(() => undefined);
  await release?.();
  await dying.stop();
  expect(answer, 'the service should have died').to.equal(undefined);
}

/**
 * Sends requests to one service, which is killed when each request has made its appends to records and no further append
 * (`record- 3` means three at the same time).
 */
export async function sendToOneDying(
  { baseUrl, ...place }: DyingPlace,
  requests: readonly DyingRequest[],
): Promise<void> {
  const env = baseUrl === undefined ? {} : { BASE_URL: baseUrl };
  const dying = await startService({
    ...place,
    program: 'test/faults/dying-service.ts',
    env: { ...env, STANDS_AFTER: 'record-' },
  });
  const standing = () => dying.log().split('stands\n').length - 1;
  const sent: Promise<Answer | undefined>[] = [];
  let appends = 0;
  for (const request of requests) {
    const [prefix, count] = request.diesAfter.split(' ');
    expect(prefix).to.equal('record-');
    appends += Number(count);
    sent.push(send(dying, request).catch(() => undefined));
    await eventually(() => standing() >= appends);
  }
  expect(standing(), 'no request should have made more appends').to.equal(appends);
  await dying.kill();
  expect(await Promise.all(sent), 'no request should have been answered').to.deep.equal(
    requests.map(() => undefined),
  );
  await dying.stop();
}

/** Sends the same request to a live service, twice. As long as the dead attempt's lease lasts, the service returns 409. */
export async function retry(service: Service, request: DyingRequest): Promise<Answer> {
  let answer = await send(service, request);
  await eventually(async () => {
    if (answer.status === 409) answer = await send(service, request);
    return answer.status !== 409;
  }, 30_000);
  const again = await send(service, request);
  expect(again.headers.get('idempotent-replayed')).to.equal('true');
  expect(again.text).to.equal(answer.text);
  return answer;
}

/** Returns a Patient with the given identifier. */
export function patient(value: string): JsonObject {
  return { resourceType: 'Patient', identifier: [{ system: SYSTEM, value }] };
}

/** Returns a batch of new patients. */
export function batchOf(values: readonly string[]): JsonObject {
  const entry = values.map((value) => ({
    resource: patient(value),
    request: { method: 'POST', url: 'Patient' },
  }));
  return { resourceType: 'Bundle', type: 'batch', entry };
}

/**
 * Returns a transaction with a new patient and a new organization, which writes to a record's stream and to the directory's
 * stream.
 */
export function withOrganization(value: string): JsonObject {
  const identifier = [{ system: SYSTEM, value }];
  return {
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [
      {
        fullUrl: 'urn:uuid:22222222-2222-4222-8222-222222222222',
        resource: { resourceType: 'Organization', name: 'New', identifier },
        request: { method: 'POST', url: 'Organization' },
      },
      {
        resource: {
          resourceType: 'Patient',
          identifier,
          managingOrganization: { reference: 'urn:uuid:22222222-2222-4222-8222-222222222222' },
        },
        request: { method: 'POST', url: 'Patient' },
      },
    ],
  };
}

/** Returns the statuses in a Bundle response. */
export function statuses(answer: Answer): unknown[] {
  const { entry } = answer.json;
  if (!Array.isArray(entry)) throw new Error(answer.text);
  return entry.map((one) => (isObject(one) && isObject(one.response) ? one.response.status : undefined));
}
