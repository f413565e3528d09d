/** The SQL that decides whether a grant still allows anything, shared by every statement that asks it. */

/** Microseconds since 1970 by the database's clock, as the read model `consents` stores times. */
const NOW_MICROS = '(extract(epoch from now()) * 1000000)::int8';

/**
 * Joins of a statement whose chain is `c`: the active grant as `g`, the application, its project, and the project of
 * the record. A row is left only while none of them has ended or was deleted (docs/spec/decisions.md, section 9).
 */
export const LIVE_GRANT = `
  join consents.grants g on g.grant_id = c.grant_id and g.application_id = c.application_id and g.record = c.record
   and g.ended_at is null and g.expires_at > ${NOW_MICROS}
  join projects.application a on a.id = c.application_id and a.deleted_at is null
  join projects.project p on p.id = a.project and p.deleted_at is null
  left join projects.project o on o.id = g.owner_project`;

/** The condition that goes with the joins: the record's project may have no row, but must not be deleted. */
export const OWNER_LIVE = 'o.deleted_at is null';

/**
 * Keeps the row of the grant until the transaction ends; goes behind the condition. A purge deletes that row before it
 * deletes the record's codes and tokens for the last time (`commands/record/erasure.ts`), so a statement that writes
 * some either ends before, or finds no grant.
 */
export const HOLD_GRANT = 'for key share of g';

/** The end of the grant `g` as timestamptz. */
export const GRANT_END = 'to_timestamp(g.expires_at / 1000000.0)';
