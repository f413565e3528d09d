/**
 * Periodically deletes expired idempotency keys, attempt counts, codes, tokens, signing keys and sessions, people without
 * sessions or links, shared links that have ended, unused guests, and leftovers from rebuilds that were killed. Also carries
 * out approvals that a crash interrupted.
 */
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { sweepShadows } from '../freshness/read-models.ts';
import type { IdempotencyStore } from '../operations/idempotency.ts';
import type { Invitations } from '../operations/invitations.ts';
import { sweepSignIns } from '../signin/sweep.ts';

/** The interval between rounds, in ms. */
const SWEEP_MS = 10 * 60_000;

/** Starts the periodic cleanup; a failure is logged, and the next round tries again. */
export function startSweeping({
  pool,
  idempotency,
  invitations,
  tokens,
  accessRequests,
  sharedLinks,
  guests,
  log,
}: {
  readonly pool: Pool;
  readonly idempotency: Pick<IdempotencyStore, 'sweep'>;
  readonly invitations: Pick<Invitations, 'sweep'>;
  readonly tokens: { readonly sweep: () => Promise<void> };
  readonly accessRequests: { readonly resume: () => Promise<void> };
  readonly sharedLinks: { readonly sweep: () => Promise<void> };
  readonly guests: { readonly sweep: () => Promise<void> };
  readonly log: Logger;
}): { stop(): void } {
  const sweeping = setInterval(() => {
    void sweepShadows(pool, log);
    idempotency
      .sweep()
      .catch((error: unknown) => log.warn({ err: error }, 'expired idempotency keys were not removed'));
    invitations
      .sweep()
      .catch((error: unknown) => log.warn({ err: error }, 'counts of invitation attempts were not removed'));
    tokens.sweep().catch((error: unknown) => log.warn({ err: error }, 'expired tokens were not removed'));
    accessRequests
      .resume()
      .catch((error: unknown) => log.warn({ err: error }, 'interrupted approvals were not carried out'));
    sharedLinks
      .sweep()
      .catch((error: unknown) => log.warn({ err: error }, 'ended shared links were not removed'));
    guests.sweep().catch((error: unknown) => log.warn({ err: error }, 'unused guests were not removed'));
    sweepSignIns(pool).catch((error: unknown) =>
      log.warn({ err: error }, 'ended sessions and forgotten persons were not removed'),
    );
  }, SWEEP_MS).unref();
  return { stop: () => clearInterval(sweeping) };
}
