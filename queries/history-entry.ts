import type { ResourceType } from '#src/fhir/types.ts';
import type { Micros } from '#src/shared/time.ts';

/** One version of one resource, as history shows it. */
export interface HistoryEntry {
  readonly id: string;
  readonly type: ResourceType;
  readonly version: number;
  readonly recordedAt: Micros;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  /** The exact FHIR JSON text, maybe as the UTF-8 that it is stored as; null for a deletion. */
  readonly body: string | Buffer | null;
}
