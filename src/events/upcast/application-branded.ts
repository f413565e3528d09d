/** Upcasters for ApplicationBranded. */
import type { EventData } from './upcaster.ts';

/** Upcasts `ApplicationBranded` to version 2, which added `logo`; no logos had been uploaded before. */
export function applicationBrandedTo2(data: EventData): EventData {
  return data;
}
