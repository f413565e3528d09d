/** References to resources that may belong to a record, whose reader may not see all records. */

import { type Home, typeEntry } from '../types.ts';
import { parseReference } from './references.ts';

/** A resource that belongs to a record, as a reference names it. */
export interface RecordTarget {
  readonly type: string;
  readonly id: string;
}

/** The homes of resources that may belong to a record. */
const IN_RECORDS: readonly Home[] = ['record', 'either'];

/**
 * Returns the resource in a record that a reference names; undefined for directories, other servers and contained ones.
 * @param bases FHIR base URLs of this service, each with a slash at its end
 */
export function recordTarget(reference: string, bases: readonly string[]): RecordTarget | undefined {
  const parsed = parseReference(reference, bases);
  return parsed.kind === 'local' && IN_RECORDS.includes(typeEntry(parsed.type).home) ? parsed : undefined;
}
