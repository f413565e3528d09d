/** A patient's observations, conditions and medications, newest first (docs/spec/interface.md, section 4.3). */
import type { AuthorType } from '#src/shared/access/author.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { asJson } from '../database/binds.ts';
import type { Asks } from '../database/prepared.ts';
import { openPages, type Pages } from './places.ts';

/** An item's current version. */
export interface ListedItem {
  readonly id: string;
  readonly version: number;
  /** The members that REST v1 shows for the item, as JSON text without braces. */
  readonly fields: string;
  /**
   * The Medication that names the item (FHIR JSON text); empty if the item contains its own name, or refers to no Medication.
   */
  readonly referred: string;
  readonly author: AuthorType;
  /** JSON, as the next. */
  readonly source: string;
  readonly origin: string;
  readonly updated: Micros;
  readonly created: Micros;
}

/**
 * Returns a page of a record.
 * @throws Refusal invalid (422) for a cursor that isn't from this list
 */
export type Items = Pages<ListedItem>;

const columns = [
  'e.version',
  "coalesce(e.fields, '')",
  'e.author_type',
  asJson('e.source_system'),
  asJson('e.origin_id'),
  'e.since',
  `case when e.version = 1 then e.since
    else (select f.since from timeline.entry f where f.id = e.id and f.version = 1) end`,
];

/** Creates the lists of items on a database. */
export const openItems = (pool: Asks): Items =>
  openPages(pool, 'rest-items', { columns, unbounded: ['e.fields'] }, (id, read) => {
    const [version, fields = '', author, source = '', origin = '', updated, created, referred = ''] = read;
    return {
      id,
      version: Number(version),
      fields,
      author: author as AuthorType,
      source,
      origin,
      updated: Number(updated),
      created: Number(created),
      referred,
    };
  });
