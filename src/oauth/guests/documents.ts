/**
 * Rows about guests' metadata documents: how long each document is fresh, when each was last used, and how many new documents
 * a domain had in a day.
 */
import type { Pool } from 'pg';

/** DDL of a migration. */
export const GUEST_DOCUMENTS_SQL = `
CREATE TABLE operations.guest_document (
  client_id text PRIMARY KEY,          -- its URL
  first_at timestamptz NOT NULL DEFAULT now(),
  used_at timestamptz NOT NULL DEFAULT now(),
  fresh_until timestamptz NOT NULL     -- it isn't fetched again before
);
CREATE TABLE operations.guest_host (
  host text NOT NULL,
  day date NOT NULL,
  documents int NOT NULL,              -- fetched for the first time on that day, UTC
  PRIMARY KEY (host, day)
);`;

/** The maximum number of new documents to fetch from one domain in a day. */
export const MOST_OF_DOMAIN = 1_000;

/** How long an unused guest is kept, in days. Its grants last at most that long. */
export const KEPT_DAYS = 90;

/** Marks a document as used; `fresh` is true if the document doesn't have to be fetched. */
const USE = `
UPDATE operations.guest_document SET used_at = now() WHERE client_id = $1 RETURNING fresh_until > now() AS fresh`;

const COUNT = `
INSERT INTO operations.guest_host AS h (host, day, documents) VALUES ($1, (now() AT TIME ZONE 'UTC')::date, 1)
ON CONFLICT (host, day) DO UPDATE SET documents = h.documents + 1
RETURNING documents`;

const KEEP = `
INSERT INTO operations.guest_document (client_id, fresh_until) VALUES ($1, now() + $2 * interval '1 second')
ON CONFLICT (client_id) DO UPDATE SET used_at = now(), fresh_until = excluded.fresh_until`;

// Index: consents.open_grants_of_application. Guests are few; the project's applications are found by its index.
const UNUSED = `
SELECT a.id, a.client_id FROM projects.application a
  LEFT JOIN operations.guest_document d ON d.client_id = a.client_id
 WHERE a.project = $1 AND a.deleted_at IS NULL
   AND coalesce(d.used_at, to_timestamp(a.created_at / 1000000)) < now() - interval '${KEPT_DAYS} days'
   AND NOT EXISTS (SELECT FROM consents.grants g WHERE g.application_id = a.id AND g.ended_at IS NULL)
 ORDER BY a.created_at LIMIT 100`;

/** A host is blocked if its own name is blocked, or the name of a domain that contains it. */
const BLOCKED = `
SELECT EXISTS (SELECT FROM projects.blocked_host b
  WHERE b.blocked AND (b.host = $1 OR right($1, length(b.host) + 1) = '.' || b.host)) AS blocked`;

/** An installation's documents. */
export class GuestDocuments {
  constructor(readonly pool: Pick<Pool, 'query'>) {}

  /**
   * Marks a document as used.
   * @returns whether the document is still fresh; undefined for a new document
   */
  async use(clientId: string): Promise<boolean | undefined> {
    const { rows } = await this.pool.query<{ fresh: boolean }>(USE, [clientId]);
    return rows[0]?.fresh;
  }

  /**
   * Counts a new document from a host.
   * @returns the number of today's new documents from its domain, including this one
   */
  async count(host: string): Promise<number> {
    const { rows } = await this.pool.query<{ documents: number }>(COUNT, [await findDomain(host)]);
    return rows[0]?.documents ?? 0;
  }

  /**
   * Records that a document was fetched.
   * @param seconds how long the document stays fresh
   */
  async keep(clientId: string, seconds: number): Promise<void> {
    await this.pool.query(KEEP, [clientId, seconds]);
  }

  /** Returns whether an operator has blocked a host. */
  async isBlocked(host: string): Promise<boolean> {
    const { rows } = await this.pool.query<{ blocked: boolean }>(BLOCKED, [host]);
    return rows[0]?.blocked ?? false;
  }

  /** Returns whether a guest has grants that haven't been ended by an event. Index: consents.open_grants_of_application. */
  async hasOpenGrants(applicationId: string): Promise<boolean> {
    const { rows } = await this.pool.query<{ open: boolean }>(
      'SELECT EXISTS (SELECT FROM consents.grants g WHERE g.application_id = $1 AND g.ended_at IS NULL) AS open',
      [applicationId],
    );
    return rows[0]?.open ?? false;
  }

  /** Returns up to 100 guests that have no grant and haven't been used for 90 days. */
  async unused(project: string): Promise<readonly { readonly id: string; readonly client_id: string }[]> {
    return (await this.pool.query<{ id: string; client_id: string }>(UNUSED, [project])).rows;
  }

  /** Forgets a document. */
  async forget(clientId: string): Promise<void> {
    await this.pool.query('DELETE FROM operations.guest_document WHERE client_id = $1', [clientId]);
  }

  /** Deletes counts from before yesterday. */
  async sweep(): Promise<void> {
    await this.pool.query(
      `DELETE FROM operations.guest_host WHERE day < (now() AT TIME ZONE 'UTC')::date - 1`,
    );
  }
}

/**
 * Returns the part of a host name that its owner registered (`example.org` for `a.b.example.org`), by the Public Suffix List.
 * If it has none, like an IP address, returns the host itself. Only the registered part is counted, because a DNS wildcard
 * gives one owner any number of hosts. Under suffixes such as `github.io`, each name has its own owner. The list (250 kB) is
 * loaded on the first call.
 */
async function findDomain(host: string): Promise<string> {
  const { getDomain } = await import('tldts');
  return getDomain(host, { allowPrivateDomains: true, validateHostname: false }) ?? host;
}

/** Limits for how long a document stays fresh, in seconds; the lower limit is long enough for all steps of one request. */
const LEAST_S = 60;
const MOST_S = 86_400;

/**
 * Returns how long an answer may be cached, in seconds, according to its headers (RFC 9111, section 4.2.1): at least a minute,
 * at most a day.
 * @param now in ms
 */
export function freshSeconds(
  headers: { readonly 'cache-control'?: string | undefined; readonly expires?: string | undefined },
  now: number,
): number {
  const control = headers['cache-control']?.toLowerCase() ?? '';
  const [, age] = /(?:^|[\s,])max-age="?(\d{1,9})/.exec(control) ?? [];
  const expires = Date.parse(headers.expires ?? '');
  const stated = /(?:^|[\s,])no-(?:store|cache)/.test(control)
    ? 0
    : age !== undefined
      ? Number(age)
      : Number.isNaN(expires)
        ? 0
        : (expires - now) / 1_000;
  return Math.min(Math.max(Math.floor(stated), LEAST_S), MOST_S);
}
