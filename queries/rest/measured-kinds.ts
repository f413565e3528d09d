/** Finds which kinds of measurements a record has, however many values each kind has. */
import type { Pool } from 'pg';

/** A code with its system. */
export interface MeasuredKind {
  readonly system: string;
  readonly code: string;
}

/** Returns those codes of a record's observations that have a system. Doesn't check permissions. */
export type MeasuredKinds = (record: string) => Promise<readonly MeasuredKind[]>;

// Each code has its own list: the newest observation in any of a code's lists contains that code. The lists are found one
// after the other, using the primary key of timeline.tally (record, list, stretch). The newest observation in each list is
// found using the primary key of timeline.place (record, list, at), which takes as long for a thousand values as for one.
const KINDS = `
with recursive l as (
  select min(t.list) as list from timeline.tally t where t.record = $1::uuid
  union all
  select (select min(t.list) from timeline.tally t where t.record = $1::uuid and t.list > l.list)
  from l where l.list is not null)
select distinct f.fields ->> 'system' as system, f.fields ->> 'code' as code
from l cross join lateral (
  select p.id from timeline.place p
  where p.record = $1::uuid and p.list = l.list and p.until is null order by p.at desc limit 1) p
cross join lateral (
  select e.type, e.fields from timeline.entry e where e.id = p.id order by e.version desc limit 1) e
cross join lateral (select ('{' || e.fields || '}')::json as fields
  where e.type = 'Observation' and e.fields is not null offset 0) f
where f.fields ->> 'system' is not null and f.fields ->> 'code' is not null`;

/** Opens the question. */
export function openMeasuredKinds(pool: Pool): MeasuredKinds {
  return async (record) => {
    const { rows } = await pool.query<MeasuredKind>({
      name: 'measured-kinds',
      text: KINDS,
      values: [record],
    });
    return rows;
  };
}
