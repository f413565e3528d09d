/**
 * Reads of records by members below `/admin`: each is in the access log. Those of production need a reason, on the gateway
 * also a recent sign-in (docs/gateway.md).
 */
import type { Environment } from '#src/shared/access/caller.ts';
import { parseReason, REASON_HEADER } from '../api/reason.ts';
import type { ApiRequest } from '../api/route.ts';

type Reading = Pick<
  ApiRequest<string, 'identity'>,
  'services' | 'identity' | 'requestId' | 'visitor' | 'header'
>;

/** The read of a record. */
interface ReadOf {
  readonly record: string;
  /** Resources that are shown. */
  readonly count: number | null;
}

/** The kind of a read. */
interface Kind {
  readonly environment: Environment;
  readonly action: string;
  readonly resourceType: string | null;
  /** Default: the Patient of each record, if the type is Patient. */
  readonly resourceId?: string | null;
}

/**
 * Checks that records of an environment are open to the person, who says why.
 * @throws Refusal unauthenticated (401), malformed (400)
 */
export function requireOpen(reading: Reading, environment: Environment): void {
  if (environment === 'production') parseReason(readReason(reading) ?? '');
}

/**
 * The same for what shows no content of records, and for routes that are older than reasons: with an ID token they do
 * without one.
 * @throws Refusal unauthenticated (401), malformed (400)
 */
export function requireOpenOnPages(reading: Reading, environment: Environment): void {
  if (environment === 'production') readReason(reading);
}

/** Tells whether content of records may be shown: in production only to a person who says why. */
export function mayShow(reading: Reading, environment: Environment): boolean {
  return environment === 'sandbox' || readReason(reading) !== undefined;
}

/** Returns the reason; undefined if an ID token came without. @throws Refusal unauthenticated (401), malformed (400) */
function readReason({ visitor, header }: Reading): string | undefined {
  if (visitor !== undefined) return visitor.reason();
  const given = header(REASON_HEADER.toLowerCase());
  return given === undefined ? undefined : parseReason(given);
}

/**
 * Writes reads into the access log.
 * @throws Refusal unavailable (503) if they can't be written; unauthenticated (401), malformed (400) as `requireOpen`
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
