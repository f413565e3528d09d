/** Upcasters for ApiKeyCreated. */
import type { EventData } from './upcaster.ts';

/** Upcasts `ApiKeyCreated` to version 2, which added an expiry to keys; earlier keys have none. */
export function apiKeyCreatedTo2(data: EventData): EventData {
  return { ...data, expires_at: null };
}
