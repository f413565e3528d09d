/**
 * Reads of records by members below `/admin`: each is in the access log. On the gateway those of production need a reason
 * and a recent sign-in (docs/gateway.md).
 */
import type { Environment } from '#src/shared/access/caller.ts';
import type { ApiRequest } from '../api/route.ts';

type Reading = Pick<ApiRequest<string, 'identity'>, 'services' | 'identity' | 'requestId' | 'visitor'>;

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
 * Checks that records of an environment are open to the person.
 * @throws Refusal unauthenticated (401), malformed (400)
 */
export function requireOpen({ visitor }: Reading, environment: Environment): void {
  if (environment === 'production') visitor?.reason();
}

/**
 * Writes reads into the access log.
 * @throws Refusal unavailable (503) if they can't be written; unauthenticated (401), malformed (400) as `requireOpen`
 */
export async function noteReads(
  { services, identity, requestId, visitor }: Reading,
  { environment, action, resourceType, resourceId }: Kind,
  reads: readonly ReadOf[],
): Promise<void> {
  if (reads.length === 0) return;
  const { issuer, subject } = identity;
  const purpose = environment === 'production' ? (visitor?.reason() ?? null) : null;
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
