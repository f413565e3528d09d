/** A patient's observations, conditions and medications, the newest first (interface.md, section 4.3). */
import type { AuthorType } from '#src/events/metadata.ts';
import type { Micros } from '#src/shared/time.ts';
import type { Asks } from '../prepared.ts';
import { type ListOf, type PageOf, type PlaceRow, type PlacesPage, pageOf, type Shown } from './places.ts';

/** An item as it stands now. */
export interface ListedItem {
  readonly id: string;
  readonly version: number;
  /** The members that REST v1 shows of it, as JSON text without braces. */
  readonly fields: string;
  readonly author: AuthorType;
  readonly source: string | null;
  readonly origin: string | null;
  readonly updated: Micros;
  readonly created: Micros;
}

/** Gives a page of a record. @throws Refusal invalid (422) for a cursor that is none of a list. */
export type Items = (of: ListOf, page: PageOf) => Promise<PlacesPage<ListedItem>>;

// Index: primary key of timeline.entry (id, version), backwards: an item is what its newest version says.
const SHOWN: Shown = {
  columns: `e.listed, e.version, e.fields, e.author_type as author, e.source_system as source, e.origin_id as origin,
    e.since as updated, case when e.version = 1 then e.since
      else (select f.since from timeline.entry f where f.id = p.id and f.version = 1) end as created`,
  joined: `cross join lateral (
    select e.lists && $2::int8[] as listed, e.version, e.fields, e.author_type, e.source_system, e.origin_id, e.since
    from timeline.entry e where e.id = p.id and (e.tenant = $6::uuid) is true
    order by e.version desc limit 1) e`,
};

interface Row extends PlaceRow, Omit<ListedItem, 'id'> {
  /** False when it is not to be listed any more. */
  readonly listed: boolean;
}

/** Opens it over a database. */
export function openItems(pool: Asks): Items {
  return async (of, page) => {
    const asked = pageOf('rest-items', SHOWN, of, page);
    const found = asked.of((await pool.query<Row>(asked.statement)).rows);
    return { ...found, rows: found.rows.filter(({ listed }) => listed) };
  };
}
