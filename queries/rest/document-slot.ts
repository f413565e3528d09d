/** Finds the document for a direct upload. The URL's signature authorizes the upload, so no caller is needed. */
import type { Pool } from 'pg';
import { isUuid } from '#src/shared/ids.ts';

/** A live document. */
export interface DocumentSlot {
  /** Id of the Patient. */
  readonly patient: string;
  /** FHIR JSON text. */
  readonly body: string;
}

/** Finds the document; undefined if there is none. */
export type FindSlot = (document: string) => Promise<DocumentSlot | undefined>;

// Index: primary key of resources.resource (id).
const SLOT = `
  select r.record as patient, r.body
  from resources.resource r
  where r.id = $1 and r.type = 'DocumentReference' and not r.deleted and r.record is not null`;

/** Creates the lookup on a database. */
export function openFindSlot(pool: Pool): FindSlot {
  return async (document) => {
    if (!isUuid(document)) return undefined;
    const { rows } = await pool.query<DocumentSlot>({
      name: 'document-slot',
      text: SLOT,
      values: [document],
    });
    return rows[0];
  };
}
