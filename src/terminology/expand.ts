/** Lists the members of a value set. https://hl7.org/fhir/R4/valueset-operation-expand.html */
import type { Pool } from 'pg';
import { Refusal } from '#src/shared/refusal.ts';
import { Bound } from './binds.ts';
import { queryMembers } from './query-members.ts';
import type { ValueSet } from './resources.ts';
import { membersSql } from './sets.ts';

/** Maximum number of codes returned without a `count`. */
const MOST_EXPANDED = 10_000;

/** Specifies which members to return. */
export interface ExpandOptions {
  /** Words, each of which must occur in the display or be the code itself. */
  readonly filter?: string | undefined;
  readonly offset?: number | undefined;
  /** 0 returns only the total. */
  readonly count?: number | undefined;
  readonly activeOnly?: boolean | undefined;
}

/** A member of a value set. */
export interface Member {
  readonly system: string;
  readonly version: string | null;
  readonly code: string;
  readonly display: string | null;
  readonly selectable: boolean;
  readonly active: boolean;
}

/** A page of members, and their total. */
export interface Expansion {
  readonly total: number;
  readonly members: readonly Member[];
}

/**
 * Expands a value set, in the order of its definition.
 * @throws Refusal too_large (413, `too-costly`) for more than `MOST_EXPANDED` members if no count is given; also the same
 *   Refusal as `membersSql`
 */
export async function expand(pool: Pool, set: ValueSet, options: ExpandOptions = {}): Promise<Expansion> {
  const { filter, offset = 0, count, activeOnly } = options;
  const bound = new Bound();
  const sql = await membersSql(set, { pool, bound, walk: 'down' });
  // Indexes: concept_by_display, concept_by_code_in_any_case.
  const conditions = (filter ?? '')
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => {
      const pattern = bound.add(`%${word.replace(/[\\%_]/g, '\\$&')}%`, 'text');
      return `(u.display ilike ${pattern} or lower(u.code) = lower(${bound.add(word, 'text')}))`;
    });
  if (activeOnly === true) conditions.push('u.active');
  const limit = count ?? MOST_EXPANDED + 1;
  const [row] = await queryMembers<{ total: number; members: Member[] | null }>(
    pool,
    `with members as materialized (
       select distinct on (u.system, u.code) u.* from (${sql}) u
       ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
       order by u.system, u.code, u.part, u.place
     ), page as (
       select * from members order by part, place limit ${bound.add(limit, 'int4')} offset ${bound.add(offset, 'int4')}
     )
     select (select count(*) from members)::int as total, (select json_agg(json_build_object(
       'system', p.system, 'version', p.version, 'code', p.code, 'display', p.display,
       'selectable', p.selectable, 'active', p.active) order by p.part, p.place) from page p) as members`,
    bound,
  );
  const members = row?.members ?? [];
  if (count === undefined && members.length > MOST_EXPANDED) {
    throw new Refusal('too_large', {
      code: 'too-costly',
      diagnostics: `the value set has ${row?.total} codes; use count and offset, or filter`,
    });
  }
  return { total: row?.total ?? 0, members };
}
