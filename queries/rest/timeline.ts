/** A patient's timeline (decisions.md, section 4): what the read model `timeline` says of each entry, by itself. */
import type { TimelineType } from '#src/fhir/v1/timeline.ts';
import type { Micros } from '#src/shared/time.ts';
import type { Asks } from '../prepared.ts';
import { type ListOf, type PageOf, type PlaceRow, pageOf } from './places.ts';

/** An entry. */
export interface TimelineEntry {
  readonly id: string;
  readonly type: TimelineType;
  /** As the resource writes it; null when it says none. */
  readonly date: string | null;
  /** When that is; when it was created, for one that says none. */
  readonly at: Micros;
  readonly title: string;
  readonly summary: string | null;
  readonly author: string;
}

/** A page of entries. */
export interface TimelinePage {
  readonly entries: readonly TimelineEntry[];
  readonly total: number;
  readonly next: string | undefined;
}

/** Gives a page of a record that the caller sees. @throws Refusal invalid (422) for a cursor that is none of a list. */
export type Timeline = (of: ListOf, page: PageOf) => Promise<TimelinePage>;

// Index: primary key of timeline.entry (id, version), backwards. An entry is what its newest version says.
const SHOWN = `e.listed, e.type, e.date, e.title, e.summary, e.author_type as author, e.at as moment
    from p cross join lateral (
      select e.lists && $2::int8[] as listed, e.type, e.date, e.title, e.summary, e.author_type, e.at
      from timeline.entry e where e.id = p.id and (e.tenant = $6::uuid) is true
      order by e.version desc limit 1) e`;

interface Row extends PlaceRow, Omit<TimelineEntry, 'at' | 'id'> {
  /** False when it is not to be shown any more. */
  readonly listed: boolean;
  readonly moment: Micros;
}

/** Opens it over a database; the read model has come to where the log was. */
export function openTimeline(pool: Asks): Timeline {
  return async (of, page) => {
    const asked = pageOf('rest-timeline', SHOWN, of, page);
    const { rows, total, next } = asked.of((await pool.query<Row>(asked.statement)).rows);
    return {
      entries: rows.flatMap(({ listed, id, type, date, moment, title, summary, author }) =>
        listed ? [{ id, type, date, at: moment, title, summary, author }] : [],
      ),
      total,
      next,
    };
  };
}
