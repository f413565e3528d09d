import type { Begun, IdempotentRequest } from '#src/shared/idempotency.ts';

/** Reserves requests that have an `Idempotency-Key`, across all instances. */
export interface IdempotencyKeys {
  /**
   * Reserves a request, or returns its stored response. Waits while another attempt is running.
   * @throws Refusal invalid (422) if the key was used for a different request or credential; conflict (409) with `Retry-After`
   *   if
   * the other attempt is still running after 10 s, or if too many attempts are already waiting
   */
  begin(request: IdempotentRequest): Promise<Begun>;
}
