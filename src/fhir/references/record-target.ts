/** Recognises references to resources that may belong to a record, because a reader may not have access to every record. */

import { type Home, typeEntry } from '../types.ts';
import { parseReference } from './references.ts';

/** A resource in a record, as named by a reference. */
export interface RecordTarget {
  readonly type: string;
  readonly id: string;
}

/** Where resources that may belong to a record are stored. */
const IN_RECORDS: readonly Home[] = ['record', 'either'];

/**
 * Returns the resource in a record that a reference names; undefined for references to directories, other servers and
 * contained resources.
 * @param bases this service's FHIR base URLs, each with a trailing slash
 */
export function recordTarget(reference: string, bases: readonly string[]): RecordTarget | undefined {
  const parsed = parseReference(reference, bases);
  return parsed.kind === 'local' && IN_RECORDS.includes(typeEntry(parsed.type).home) ? parsed : undefined;
}
