/**
 * Implements `Idempotency-Key` on every POST: https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/ and
 * docs/spec/decisions.md, section 3.
 */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { RetryNotes } from '#commands/command.ts';
import { accessIn, type Caller } from '#src/shared/access/caller.ts';
import type { Identity } from '#src/shared/access/identity.ts';
import type { KeptAnswer, Reservation } from '#src/shared/idempotency.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Answer } from './answer/answer.ts';
import { AUTHOR_HEADERS, type Header } from './answer/authorship.ts';
import type { IdempotencyKeys } from './ports/idempotency.ts';

/** Ids and appends from an earlier attempt at the same request, for its command. */
export interface Attempted {
  /** Seeds its ids. */
  readonly commandId: string;
  readonly millis: number;
  readonly retry: RetryNotes;
}

/** The parts of a request that determine whether two requests are the same. */
export interface KeyedRequest {
  readonly key: string;
  /** Project and environment. */
  readonly scope: string;
  readonly credential: string;
  /** Used instead of the credential if tokens are replaced often: the result of `tokenHolder`, or the person. */
  readonly holder: string | undefined;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly header: Header;
  readonly body: Buffer;
  /** The response to the request. A retry stops waiting when its client disconnects. */
  readonly response: ServerResponse;
}

const KEY = /^[\x21-\x7e]{1,255}$/;
/** Refusals that are stored like other responses, because they depend on the state that the first attempt found. */
const KEPT = new Set([404, 409, 412]);

/**
 * Runs a request once. A repeated request gets the first response, byte for byte, with `Idempotent-Replayed: true`.
 * @param run executes the request; throws Refusal.
 * @param toAnswer converts a refusal to a response.
 * @throws Refusal 409 if the first attempt is still running after 10 s; 422 if the key is invalid or was used for another
 *   request.
 */
export async function once(
  store: IdempotencyKeys,
  request: KeyedRequest,
  run: (attempted: Attempted) => Promise<Answer>,
  toAnswer: (refusal: Refusal) => Answer,
): Promise<Answer> {
  if (!KEY.test(request.key)) {
    throw new Refusal('invalid', {
      code: 'value',
      diagnostics: 'Idempotency-Key must be 1 to 255 visible ASCII characters',
      expression: 'http.idempotency-key',
    });
  }
  const { scope, key, credential, holder, body, response } = request;
  const begun = await store.begin({
    scope,
    key,
    credential,
    holder,
    requestHash: hashRequest(request),
    bytes: body.length,
    gone: () => closing(response),
  });
  if ('kept' in begun) {
    // Nothing here shows whether the response contains a secret, so it isn't compressed.
    return { ...begun.kept, headers: { ...begun.kept.headers, 'Idempotent-Replayed': 'true' }, plain: true };
  }
  return settle(begun.reserved, run, toAnswer);
}

/**
 * Returns the scope of a caller's Idempotency-Keys: the project and environment or, under a grant, the application and grant
 * (docs/spec/decisions.md, section 3).
 */
export function keyScope({ calls: { projectId, credential } }: Caller): string {
  return credential.kind === 'grant' ? `grant ${credential.applicationId} ${credential.grantId}` : projectId;
}

/** Returns the scope of a person's Idempotency-Keys that belong to no project (docs/spec/decisions.md, section 3). */
export function keyScopeOfPerson({ issuer, subject }: Identity): string {
  return `identity ${createHash('sha256').update(`${issuer}\n${subject}`).digest('hex')}`;
}

/**
 * Returns who holds a token and what it allows, for callers whose tokens are replaced often; undefined for an API key. A token
 * with fewer scopes must not get data that a token with more scopes read.
 */
export function tokenHolder({ calls: { credential, scopes }, sees }: Caller): string | undefined {
  const access = accessIn(sees);
  const rights = access === undefined ? scopes.join(' ') : JSON.stringify([...access.types]);
  const limits = rights === 'read write' ? '' : `\n${rights}`;
  switch (credential.kind) {
    case 'api_key':
      return undefined;
    case 'client':
      return `application ${credential.applicationId}${limits}`;
    case 'grant':
      return `grant ${credential.grantId}${limits}`;
    case 'member':
    case 'person':
      return `identity ${credential.issuer}\n${credential.subject}${limits}`;
  }
}

/** Returns whether a response is the stored response to an earlier request. */
export function isRepeated({ headers }: Answer): boolean {
  return headers['Idempotent-Replayed'] === 'true';
}

/** Returns a signal that is aborted when the client closes the connection. */
function closing(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.closed) gone.abort();
  else response.once('close', () => gone.abort());
  return gone.signal;
}

async function settle(
  reserved: Reservation,
  run: (attempted: Attempted) => Promise<Answer>,
  toAnswer: (refusal: Refusal) => Answer,
): Promise<Answer> {
  const { commandId, millis, earlier } = reserved;
  const retry: RetryNotes = {
    earlier,
    note: (id, attempt) => reserved.note(id, attempt),
    secret: () => reserved.secret(),
  };
  let answer: Answer;
  try {
    answer = await run({ commandId, millis, retry });
  } catch (error) {
    if (!(error instanceof Refusal) || error.status >= 500) {
      // It is unknown whether anything was written, so the next attempt continues with the same seed.
      await reserved.release().catch(() => undefined);
      throw error;
    }
    const passes = error.headers['Retry-After'] !== undefined;
    if (!KEPT.has(error.status) || passes) {
      await reserved.forget();
      throw error;
    }
    answer = toAnswer(error);
  }
  // Long responses to reads aren't stored, because the data can be read again. A retry finds the events that have already been
  // written, as after a crash.
  if (answer.transient || (answer.reads === true && isLong(answer))) await reserved.release();
  else await reserved.keep(kept(answer));
  return answer;
}

/** The size, in bytes, from which responses to reads aren't stored. */
const KEPT_BYTES = 1_000_000;

function isLong({ body, stream }: Answer): boolean {
  return stream !== undefined || (body !== undefined && Buffer.byteLength(body) > KEPT_BYTES);
}

/** Responses to POST requests are text. */
function kept({ body, refused: _, shown: __, receipt: ___, ...answer }: Answer): KeptAnswer {
  return { ...answer, ...(body === undefined ? {} : { body: body.toString() }) };
}

/** Fields are length-prefixed, so moving a boundary between fields changes the hash. */
function hashRequest({ method, url, header, body }: KeyedRequest): Buffer {
  const hash = createHash('sha256');
  const headers = [...AUTHOR_HEADERS, 'if-none-exist'].map((name) => header(name) ?? '');
  for (const part of [method, url, ...headers, body]) {
    hash.update(`${Buffer.byteLength(part)}\n`).update(part);
  }
  return hash.digest();
}
