/** Upcasters for RecordErased. */
import type { EventData } from './upcaster.ts';

/** Upcasts `RecordErased` to version 2, which added `grants`. Records that were erased earlier had no grants. */
export function recordErasedTo2(data: EventData): EventData {
  return { ...data, grants: [] };
}

/** Upcasts `RecordErased` to version 3, which added `access_log`. Records that were erased earlier had no access log. */
export function recordErasedTo3(data: EventData): EventData {
  return { ...data, access_log: { entries: 0, hash: null } };
}
