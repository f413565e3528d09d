/** Upcasters for ApiKeyCreated. */
import type { EventData } from './upcaster.ts';

/** Upcasts `ApiKeyCreated` to version 2, which added an expiry. Earlier keys don't expire. */
export function apiKeyCreatedTo2(data: EventData): EventData {
  return { ...data, expires_at: null };
}
