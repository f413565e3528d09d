/** Upcasters of RecordErased. */
import type { EventData } from './upcaster.ts';

/** Upcasts `RecordErased` to version 2, which added `grants`. Records that were erased before had none. */
export function recordErasedTo2(data: EventData): EventData {
  return { ...data, grants: [] };
}
