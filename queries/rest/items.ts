/** A patient's observations, conditions and medications, the newest first (interface.md, section 4.3). */
import type { EventMetadata } from '#src/events/metadata.ts';
import { unavailable } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time.ts';
import type { Asks } from '../prepared.ts';
import { type ListOf, type PageOf, type PlaceRow, pageOf } from './places.ts';

/** An item as it stands now, and the event that made it so. */
export interface ListedItem {
  readonly id: string;
  readonly version: number;
  /** The exact FHIR JSON text. */
  readonly body: string;
  readonly metadata: EventMetadata;
  readonly updated: Micros;
  readonly created: Micros;
}

/** A page of items. */
export interface ItemsPage {
  readonly items: readonly ListedItem[];
  readonly total: number;
  readonly next: string | undefined;
}

/** Gives a page of a record that the caller sees. @throws Refusal invalid (422) for a cursor that is none of a list. */
export type Items = (of: ListOf, page: PageOf) => Promise<ItemsPage>;

// Indexes: primary keys of timeline.entry (id, version), backwards, and of history.version (id, version).
const SHOWN = `n.version, v.body, v.metadata, v.recorded_at as updated,
    case when n.version = 1 then v.recorded_at
      else (select f.recorded_at from history.version f where f.id = p.id and f.version = 1) end as created
    from p
    cross join lateral (select case when p.until is null then p.version else (
      select case when e.lists && $2::int8[] then e.version end from timeline.entry e
      where e.id = p.id order by e.version desc limit 1) end as version offset 0) n
    left join lateral (
      select v.body, v.metadata, v.recorded_at from history.version v
      where v.id = p.id and v.version = n.version and (v.tenant = $6::uuid) is true offset 0) v on true`;

interface Row extends PlaceRow {
  /** Null when it is not in the list any more. */
  readonly version: number | null;
  readonly body: string | null;
  readonly metadata: string;
  readonly updated: Micros;
  readonly created: Micros;
}

/** Opens it over a database; both read models have come to where the log was. */
export function openItems(pool: Asks): Items {
  return async (of, page) => {
    const asked = pageOf('rest-items', SHOWN, of, page);
    const found = asked.of((await pool.query<Row>(asked.statement)).rows);
    return {
      items: found.rows.flatMap(({ id, version, body, metadata, updated, created }) => {
        if (version === null) return [];
        if (body === null) throw unavailable('the read model history is catching up with what was written');
        return [{ id, version, body, metadata: JSON.parse(metadata) as EventMetadata, updated, created }];
      }),
      total: found.total,
      next: found.next,
    };
  };
}
