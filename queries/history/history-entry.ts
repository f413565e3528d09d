import type { ResourceType } from '#src/fhir/types.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** One version of a resource in a history. */
export interface HistoryEntry {
  readonly id: string;
  readonly type: ResourceType;
  readonly version: number;
  readonly recordedAt: Micros;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  /** The exact FHIR JSON text, possibly as the stored UTF-8 bytes; null for a deletion. */
  readonly body: string | Buffer | null;
}
