import type { Begun, IdempotentRequest } from '#src/shared/idempotency.ts';

/** Reserves requests that have an `Idempotency-Key`, for all instances. */
export interface IdempotencyKeys {
  /**
   * Reserves a request, or returns its stored response. Waits while another attempt is running.
   * @throws Refusal invalid (422) if the key was used for another request or credential; conflict (409) with `Retry-After` if
   *   the other attempt is still running after 10 s, or too many are already waiting.
   */
  begin(request: IdempotentRequest): Promise<Begun>;
}
