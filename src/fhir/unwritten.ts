/** Defines the resources that a transaction is about to write, in the form that conditional references search. */
import type { Tenant } from '#src/shared/access/caller.ts';
import type { ResourceType } from './types.ts';

/** A resource in a transaction that hasn't been written yet. */
export interface Unwritten {
  readonly id: string;
  readonly type: ResourceType;
  /** The stream that it will be written to. */
  readonly stream: string;
  readonly owner: Tenant;
  /** FHIR JSON text, including the id. */
  readonly body: string;
}

/** An earlier version of a resource, whose search values are derived from its body. */
export interface PastVersion extends Unwritten {
  readonly recordedAt: string;
}
