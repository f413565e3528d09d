import type { Begun, IdempotentRequest } from '#src/shared/idempotency.ts';

/** Reserves requests that have an `Idempotency-Key`, for all instances. */
export interface IdempotencyKeys {
  /**
   * Reserves a request, or returns its answer. Waits while another attempt runs.
   * @throws Refusal invalid (422) if the key was used for another request or credential; conflict (409) with
   *   `Retry-After` if the other attempt still runs after 10 s, or too many wait already.
   */
  begin(request: IdempotentRequest): Promise<Begun>;
}
