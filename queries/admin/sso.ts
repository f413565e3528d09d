/** Single sign-on: which organization holds a domain, and which organizations trust an issuer. */
import type { Pool } from 'pg';
import type { SsoClient } from '#src/shared/access/identity.ts';

/** A domain's sign-in. */
export interface DomainSso {
  readonly organization: string;
  readonly issuer: string;
  readonly client_id: string;
}

/** Queries about single sign-on. */
export interface SsoQueries {
  /** Reads the sign-in settings for a lower-case e-mail domain. */
  readonly readSso: (domain: string) => Promise<DomainSso | undefined>;
  /** Returns, by domain, the id of the organization that holds it; domains that no organization holds are absent. */
  readonly domainHolders: (domains: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /** Reads the organizations whose settings name an issuer. */
  readonly ssoClients: (issuer: string) => Promise<readonly SsoClient[]>;
}

/** Creates the queries. */
export function openSso(pool: Pool): SsoQueries {
  return {
    async readSso(domain) {
      // Index: projects.organization_sso_domains.
      const { rows } = await pool.query<DomainSso>({
        name: 'sso-of-domain',
        text: `select o.name as organization, o.sso_issuer as issuer, o.sso_client_id as client_id
          from projects.organization o where o.sso_domains @> array[$1::text] order by o.sso_at limit 1`,
        values: [domain],
      });
      return rows[0];
    },
    async domainHolders(domains) {
      const { rows } = await pool.query<{ domain: string; organization: string }>({
        name: 'sso-domain-holders',
        text: `select d.domain, o.id as organization
          from unnest($1::text[]) as d(domain) join projects.organization o on o.sso_domains @> array[d.domain]`,
        values: [domains],
      });
      return new Map(rows.map(({ domain, organization }) => [domain, organization]));
    },
    async ssoClients(issuer) {
      // Index: projects.organization_sso_issuer.
      const { rows } = await pool.query<{ organization: string; client_id: string }>({
        name: 'sso-clients',
        text: 'select o.id as organization, o.sso_client_id as client_id from projects.organization o where o.sso_issuer = $1',
        values: [issuer],
      });
      return rows.map(({ organization, client_id: clientId }) => ({ organization, clientId }));
    },
  };
}
