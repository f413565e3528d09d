/** A patient's timeline (decisions.md, section 4): what the read model `timeline` says of each entry, by itself. */
import type { TimelineType } from '#src/fhir/v1/timeline.ts';
import type { Micros } from '#src/shared/time.ts';
import type { Asks } from '../prepared.ts';
import { type ListOf, type PageOf, type PlaceRow, type PlacesPage, pageOf, type Shown } from './places.ts';

/** An entry. */
export interface TimelineEntry {
  readonly id: string;
  readonly type: TimelineType;
  /** As the resource writes it; null when it says none. */
  readonly date: string | null;
  /** When that is; when it was created, for one that says none. */
  readonly moment: Micros;
  readonly title: string;
  readonly summary: string | null;
  readonly author: string;
}

/** Gives a page of a record. @throws Refusal invalid (422) for a cursor that is none of a list. */
export type Timeline = (of: ListOf, page: PageOf) => Promise<PlacesPage<TimelineEntry>>;

// Index: primary key of timeline.entry (id, version), backwards: an entry is what its newest version says.
const SHOWN: Shown = {
  columns: 'e.listed, e.type, e.date, e.moment, e.title, e.summary, e.author_type as author',
  joined: `cross join lateral (
    select e.lists && $2::int8[] as listed, e.type, e.date, e.at as moment, e.title, e.summary, e.author_type
    from timeline.entry e where e.id = p.id and (e.tenant = $6::uuid) is true
    order by e.version desc limit 1) e`,
};

interface Row extends PlaceRow, Omit<TimelineEntry, 'id'> {
  /** False when it is not to be shown any more. */
  readonly listed: boolean;
}

/** Opens it over a database. */
export function openTimeline(pool: Asks): Timeline {
  return async (of, page) => {
    const asked = pageOf('rest-timeline', SHOWN, of, page);
    const found = asked.of((await pool.query<Row>(asked.statement)).rows);
    return { ...found, rows: found.rows.filter(({ listed }) => listed) };
  };
}
