/** A patient's observations, conditions and medications, the newest first (docs/spec/interface.md, section 4.3). */
import type { AuthorType } from '#src/shared/access/author.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { asJson } from '../database/binds.ts';
import type { Asks } from '../database/prepared.ts';
import { openPages, type Pages } from './places.ts';

/** The current version of an item. */
export interface ListedItem {
  readonly id: string;
  readonly version: number;
  /** The members that REST v1 shows of it, as JSON text without braces. */
  readonly fields: string;
  /** The Medication that names it (its FHIR JSON text); empty where it names itself, or there is none. */
  readonly referred: string;
  readonly author: AuthorType;
  /** JSON, as the next. */
  readonly source: string;
  readonly origin: string;
  readonly updated: Micros;
  readonly created: Micros;
}

/** Gives a page of a record. @throws Refusal invalid (422) for a cursor that isn't from this list. */
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

/** Opens the lists of items over a database. */
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
