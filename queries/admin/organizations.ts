/** A person's organizations, and their members. */
import type { Pool } from 'pg';
import type { Identity } from '#src/shared/access/identity.ts';
import type { Role } from '#src/shared/access/member.ts';
import { MEMBERSHIP, membershipValues } from './membership.ts';
import { type Page, type PageAsked, readPage } from './page.ts';

/** An organization as one of its members sees it; times are microseconds since 1970. */
export interface OrganizationRow {
  readonly id: string;
  readonly name: string;
  readonly created_at: number;
  /** Role of the caller. */
  readonly role: Role;
  readonly sso_issuer: string | null;
  readonly sso_client_id: string | null;
  readonly sso_domains: readonly string[] | null;
  /** The domain that an owner has confirmed. */
  readonly confirmed_domain: string | null;
}

/** A member by name. */
export interface MemberRow {
  readonly id: string;
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  readonly role: Role;
  readonly created_at: number;
}

/** Queries about organizations. */
export interface Organizations {
  readonly organizations: (identity: Identity, asked: PageAsked) => Promise<Page<OrganizationRow>>;
  /** Reads an organization; undefined if it doesn't exist or the person isn't a member of it. */
  readonly organization: (identity: Identity, id: string) => Promise<OrganizationRow | undefined>;
  readonly members: (organization: string, asked: PageAsked) => Promise<Page<MemberRow>>;
  /** Reads a member by name; undefined if there is none. */
  readonly member: (organization: string, issuer: string, subject: string) => Promise<MemberRow | undefined>;
}

const COLUMNS = `o.id, o.name, o.created_at, m.role, o.sso_issuer, o.sso_client_id, o.sso_domains,
  o.confirmed_domain`;

const MEMBER = `m.issuer || ' ' || m.subject as id, m.issuer, m.subject, m.email, m.role, m.changed_at as created_at
  from projects.member m where m.organization = $1 and m.role is not null`;

/** Creates the queries. */
export function openOrganizations(pool: Pool): Organizations {
  return {
    organizations: (identity, asked) =>
      readPage<OrganizationRow>(
        pool,
        {
          name: 'organizations',
          rows: `select ${COLUMNS} from ${MEMBERSHIP} m join projects.organization o on o.id = m.organization`,
          values: membershipValues(identity),
        },
        asked,
      ),
    async organization(identity, id) {
      const { rows } = await pool.query<OrganizationRow>({
        name: 'organization',
        text: `select ${COLUMNS} from projects.organization o join ${MEMBERSHIP} m on m.organization = o.id where o.id = $5`,
        values: [...membershipValues(identity), id],
      });
      return rows[0];
    },
    members: (organization, asked) =>
      readPage<MemberRow>(
        pool,
        {
          name: 'members',
          rows: `select ${MEMBER}`,
          values: [organization],
        },
        asked,
      ),
    async member(organization, issuer, subject) {
      const { rows } = await pool.query<MemberRow>({
        name: 'member',
        text: `select ${MEMBER} and m.issuer = $2 and m.subject = $3`,
        values: [organization, issuer, subject],
      });
      return rows[0];
    },
  };
}
