/** Upcasters of ApiKeyCreated. */
import type { EventData } from './upcaster.ts';

/** Upcasts `ApiKeyCreated` to version 2, which added the end of keys: those of before have none. */
export function apiKeyCreatedTo2(data: EventData): EventData {
  return { ...data, expires_at: null };
}
