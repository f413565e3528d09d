/** Names of credentials for auditors: keys, applications and members, including revoked and removed ones. */
import type { Pool } from 'pg';

/** A credential as contained in an event's metadata. */
export interface CredentialIds {
  readonly kind: string;
  readonly key_id?: string | undefined;
  readonly application?: string | undefined;
  readonly issuer?: string | undefined;
  readonly subject?: string | undefined;
}

/** Credential names by `credentialKey`. */
export type CredentialNames = ReadonlyMap<string, string>;

/** Returns the names of credentials; credentials without a name are absent. */
export type NameCredentials = (
  credentials: readonly Omit<CredentialIds, 'kind'>[],
) => Promise<CredentialNames>;

/** Returns the text with which a credential's name is looked up. */
export function credentialKey({ key_id, application, issuer, subject }: Omit<CredentialIds, 'kind'>): string {
  return key_id ?? application ?? `${issuer ?? ''} ${subject ?? ''}`;
}

// Indexes: api_key (key_id), application (id), member_of (issuer, subject).
const NAMES = `
select k.key_id as key, k.name || ' (…' || k.last4 || ')' as name from projects.api_key k where k.key_id = any($1::text[])
union all
select a.id, a.name from projects.application a where a.id = any($2::text[])
union all
select m.issuer || ' ' || m.subject, max(m.email) from projects.member m
  join unnest($3::text[], $4::text[]) as p(issuer, subject) on p.issuer = m.issuer and p.subject = m.subject
 where m.email is not null group by m.issuer, m.subject`;

/** Opens the question. */
export function openCredentialNames(pool: Pool): NameCredentials {
  return async (credentials) => {
    const people = new Map(
      credentials.flatMap(({ issuer, subject }) =>
        issuer === undefined || subject === undefined ? [] : [[`${issuer} ${subject}`, { issuer, subject }]],
      ),
    );
    const { rows } = await pool.query<{ key: string; name: string }>({
      name: 'audit-names',
      text: NAMES,
      values: [
        [...new Set(credentials.flatMap(({ key_id }) => key_id ?? []))],
        [...new Set(credentials.flatMap(({ application }) => application ?? []))],
        [...people.values()].map(({ issuer }) => issuer),
        [...people.values()].map(({ subject }) => subject),
      ],
    });
    return new Map(rows.map(({ key, name }) => [key, name]));
  };
}
