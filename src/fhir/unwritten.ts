/** Resources of a transaction that are about to be written, as conditional references search them. */
import type { Tenant } from '#src/shared/access/caller.ts';
import type { ResourceType } from './types.ts';

/** A resource of a transaction that is not written yet. */
export interface Unwritten {
  readonly id: string;
  readonly type: ResourceType;
  /** The stream that it will be written to. */
  readonly stream: string;
  readonly owner: Tenant;
  /** FHIR JSON text, with the id. */
  readonly body: string;
}

/** An earlier version of a resource, whose values are made of its body. */
export interface PastVersion extends Unwritten {
  readonly recordedAt: string;
}
