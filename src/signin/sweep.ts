/** Deletes what sign-ins leave behind: unanswered sign-ins, sessions that have ended, and people without sessions and links. */
import type pg from 'pg';
import { LIVE } from './sessions.ts';

/** Records when each session ended, which is at its time limit, not when it was deleted. */
const END_SESSIONS = `
WITH ended AS (
  DELETE FROM operations.session s WHERE NOT (${LIVE})
  RETURNING s.issuer, s.subject, least(s.started_at + interval '12 hours', s.used_at + interval '30 minutes') AS at
)
UPDATE operations.person p SET session_ended_at = greatest(p.session_ended_at, e.at)
  FROM (SELECT issuer, subject, max(at) AS at FROM ended GROUP BY issuer, subject) e
 WHERE p.issuer = e.issuer AND p.subject = e.subject`;

/** People are deleted 30 days after their last link and their last session have ended. Index: consents.links_of_person. */
const FORGET_PERSONS = `
DELETE FROM operations.person p
 WHERE p.session_ended_at < now() - interval '30 days'
   AND NOT EXISTS (SELECT FROM operations.session s WHERE s.issuer = p.issuer AND s.subject = p.subject)
   AND NOT EXISTS (
     SELECT FROM consents.links l
      WHERE l.issuer = p.issuer AND l.subject = p.subject
        AND (l.unlinked_at IS NULL
          OR l.unlinked_at > (extract(epoch FROM now() - interval '30 days') * 1000000)::int8))`;

/** Deletes all of these, by the database's clock (docs/spec/decisions.md, section 9, "Persons and links"). */
export async function sweepSignIns(client: Pick<pg.Pool, 'query'>): Promise<void> {
  await client.query('DELETE FROM operations.sign_in WHERE expires_at <= now()');
  await client.query(END_SESSIONS);
  await client.query(FORGET_PERSONS);
}
