/**
 * The people who have a record, as shown to these people themselves. A project sees the links on its records without the
 * people: `links.ts`.
 */
import type { Pool } from 'pg';
import type { Micros } from '#src/shared/time/time.ts';
import type { RecordLink } from './links.ts';

/** An active link, including the name that the person's issuer provides. */
export interface LinkedPerson extends Omit<RecordLink, 'created_at'> {
  /** Null if unknown. */
  readonly name: string | null;
  readonly since: Micros;
}

/** Reads a record's active links, oldest first, at most 200. Doesn't check permissions. */
export type LinkedPeople = (record: string) => Promise<readonly LinkedPerson[]>;

// Indexes: consents.links_of_record, and the primary key of operations.person.
const PEOPLE = `
select l.link_id as id, l.relationship, l.via, l.linked_at::float8 as since, p.name
from consents.links l left join operations.person p on p.issuer = l.issuer and p.subject = l.subject
where l.record = $1::uuid and l.unlinked_at is null order by l.linked_at, l.link_id limit 200`;

/** Opens the question. */
export function openLinkedPeople(pool: Pool): LinkedPeople {
  return async (record) => {
    const { rows } = await pool.query<LinkedPerson>({
      name: 'linked-people',
      text: PEOPLE,
      values: [record],
    });
    return rows;
  };
}
