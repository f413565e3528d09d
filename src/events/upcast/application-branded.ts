/** Upcasters of ApplicationBranded. */
import type { EventData } from './upcaster.ts';

/** Upcasts `ApplicationBranded` to version 2, which added `logo`: none had been uploaded before. */
export function applicationBrandedTo2(data: EventData): EventData {
  return data;
}
