/** Reads the title of a record's entry, and, for versions that applications had proposed, who approved them. */
import type { Pool } from 'pg';

/** The approval of a version. */
export interface Approval {
  readonly version: number;
  /** `self`: the patient. `representative`: a person who acts for the patient. */
  readonly role: 'self' | 'representative';
  /** As stated by the person's issuer; null if unknown. */
  readonly name: string | null;
}

export interface EntryOrigin {
  /** The newest title in the timeline; null for entries that the timeline doesn't show. */
  readonly title: string | null;
  /** The code system, if the title is a code. */
  readonly titleSystem: string | null;
  readonly approvals: readonly Approval[];
}

/** Reads an entry's title and approvals. Doesn't check permissions. */
export type EntryOriginOf = (record: string, id: string) => Promise<EntryOrigin>;

// Index: the primary key of timeline.entry (id, version).
const TITLE = `
select e.title, e.title_system as "titleSystem" from timeline.entry e
where e.id = $2::uuid and e.record = $1::uuid and e.title is not null order by e.version desc limit 1`;

// Indexes: the primary keys of history.version (id, version) and operations.person.
const APPROVALS = `
select v.version, a.by ->> 'role' as role, p.name
from history.version v cross join lateral (select v.metadata::json -> 'approved_by' as by) a
left join operations.person p on p.issuer = a.by ->> 'issuer' and p.subject = a.by ->> 'subject'
where v.id = $2::uuid and v.record = $1::uuid and a.by is not null`;

/** Opens the question. */
export function openEntryOrigin(pool: Pool): EntryOriginOf {
  return async (record, id) => {
    const values = [record, id];
    const titles = await pool.query<Omit<EntryOrigin, 'approvals'>>({
      name: 'entry-title',
      text: TITLE,
      values,
    });
    const approvals = await pool.query<Approval>({ name: 'entry-approvals', text: APPROVALS, values });
    return { title: null, titleSystem: null, ...titles.rows[0], approvals: approvals.rows };
  };
}
