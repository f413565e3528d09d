/** The SQL that decides whether a grant still allows anything, shared by all statements that depend on this. */

/** Microseconds since 1970 by the database's clock, the form in which the read model `consents` stores times. */
const NOW_MICROS = '(extract(epoch from now()) * 1000000)::int8';

/**
 * Joins for a statement whose chain is `c`. They add the active grant as `g`, the application, its project, and the record's
 * project. A row remains only if none of these has ended or been deleted (docs/spec/decisions.md, section 9).
 */
export const LIVE_GRANT = `
  join consents.grants g on g.grant_id = c.grant_id and g.application_id = c.application_id and g.record = c.record
   and g.ended_at is null and g.expires_at > ${NOW_MICROS}
  join projects.application a on a.id = c.application_id and a.deleted_at is null
  join projects.project p on p.id = a.project and p.deleted_at is null
  left join projects.project o on o.id = g.owner_project`;

/** The condition that must accompany the joins: the record's project needn't have a row, but must not be deleted. */
export const OWNER_LIVE = 'o.deleted_at is null';

/**
 * Locks the grant's row until the transaction ends; must follow the condition. A purge deletes that row before it deletes the
 * record's codes and tokens for the last time (`commands/record/erasure.ts`). So a statement that writes codes or tokens
 * either finishes before the purge deletes the row, or finds no grant.
 */
export const HOLD_GRANT = 'for key share of g';

/** The end of the grant `g` as timestamptz. */
export const GRANT_END = 'to_timestamp(g.expires_at / 1000000.0)';
