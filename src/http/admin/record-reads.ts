/**
 * Checks members' reads of records below `/admin`, and records each of them in the access log. Production reads need a reason
 * and, on the gateway, a recent sign-in (docs/gateway.md).
 */
import type { Environment } from '#src/shared/access/caller.ts';
import { parseReason, REASON_HEADER } from '../api/reason.ts';
import type { ApiRequest } from '../api/route.ts';

type Reading = Pick<
  ApiRequest<string, 'identity'>,
  'services' | 'identity' | 'requestId' | 'visitor' | 'header'
>;

/** A read of a record. */
interface ReadOf {
  readonly record: string;
  /** Number of resources shown. */
  readonly count: number | null;
}

/** The kind of a read. */
interface Kind {
  readonly environment: Environment;
  readonly action: string;
  readonly resourceType: string | null;
  /** Default: if the type is Patient, the Patient of each record. */
  readonly resourceId?: string | null;
}

/**
 * Checks that the person may read records in an environment. In production, the person must give a reason.
 * @throws Refusal unauthenticated (401), malformed (400)
 */
export function requireOpen(reading: Reading, environment: Environment): void {
  if (environment === 'production') parseReason(readReason(reading) ?? '');
}

/**
 * Does the same check for responses that show no record content, and for routes that existed before reasons were required.
 * With an ID token, these need no reason.
 * @throws Refusal unauthenticated (401), malformed (400)
 */
export function requireOpenOnPages(reading: Reading, environment: Environment): void {
  if (environment === 'production') readReason(reading);
}

/** Returns whether record content may be shown: in production, only to a person who gives a reason. */
export function mayShow(reading: Reading, environment: Environment): boolean {
  return environment === 'sandbox' || readReason(reading) !== undefined;
}

/**
 * Returns the reason; undefined if the request has an ID token and gives no reason.
 * @throws Refusal unauthenticated (401), malformed (400)
 */
function readReason({ visitor, header }: Reading): string | undefined {
  if (visitor !== undefined) return visitor.reason();
  const given = header(REASON_HEADER.toLowerCase());
  return given === undefined ? undefined : parseReason(given);
}

/**
 * Records reads in the access log.
 * @throws Refusal unavailable (503) if they can't be recorded; unauthenticated (401) or malformed (400), like `requireOpen`
 */
export async function noteReads(
  reading: Reading,
  { environment, action, resourceType, resourceId }: Kind,
  reads: readonly ReadOf[],
): Promise<void> {
  if (reads.length === 0) return;
  const { services, identity, requestId } = reading;
  const { issuer, subject } = identity;
  const purpose = environment === 'production' ? (readReason(reading) ?? null) : null;
  await services.accessLog.written(
    reads.map(({ record, count }) => ({
      record,
      action,
      actor: { kind: 'person', issuer, subject, role: 'member' },
      resourceType,
      resourceId: resourceId ?? (resourceType === 'Patient' ? record : null),
      purpose,
      status: 'ok',
      count,
      requestId,
    })),
  );
}
