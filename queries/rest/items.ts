/** A patient's observations, conditions and medications, the newest first (interface.md, section 4.3). */
import type { AuthorType } from '#src/events/metadata.ts';
import type { Micros } from '#src/shared/time.ts';
import type { Asks } from '../prepared.ts';
import { openPages, type Pages, REFERRED } from './places.ts';

/** An item as it stands now. */
export interface ListedItem {
  readonly id: string;
  readonly version: number;
  /** The members that REST v1 shows of it, as JSON text without braces. */
  readonly fields: string;
  /** The Medication that names it (its FHIR JSON text); null where it names itself, or there is none. */
  readonly referred: string | null;
  readonly author: AuthorType;
  readonly source: string | null;
  readonly origin: string | null;
  readonly updated: Micros;
  readonly created: Micros;
}

/** Gives a page of a record. @throws Refusal invalid (422) for a cursor that is none of this list. */
export type Items = Pages<ListedItem>;

const COLUMNS = `e.version, e.fields, e.author_type as author, e.source_system as source, e.origin_id as origin,
  e.since as updated, case when e.version = 1 then e.since
    else (select f.since from timeline.entry f where f.id = e.id and f.version = 1) end as created,
  ${REFERRED}`;

/** Opens it over a database. */
export const openItems = (pool: Asks): Items => openPages(pool, 'rest-items', COLUMNS);
