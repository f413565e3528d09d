/**
 * OAuth clients: applications as the authorization server sees them. Read from the read model `projects` for every request,
 * without a cache, so that a deleted application or project is refused at once.
 */
import type { Pool } from 'pg';
import { z } from 'zod';
import type { Environment } from '#src/shared/access/caller.ts';
import { GUESTS, isGuestId } from '#src/shared/access/guests.ts';
import { isPublicMailDomain } from '#src/shared/public-mail.ts';
import { keySetSchema, type PublicKeySet } from './key-set.ts';

/** The SHA-256 of a client secret that currently works. `until` is in ms since 1970; it is absent for the current secret. */
export interface ClientSecret {
  /** hex */
  readonly sha256: string;
  readonly until?: number;
}

/** An uploaded logo. */
export interface ClientLogo {
  /** hex */
  readonly sha256: string;
  readonly contentType: string;
  /** In bytes. */
  readonly size: number;
}

/** The branding that the consent page shows next to a client's name. */
export interface ClientBranding {
  /** Its home page. */
  readonly clientUri: string | undefined;
  /** Its terms of service. */
  readonly tosUri: string | undefined;
  /** `#rrggbb` */
  readonly color: string | undefined;
  /** Served by the service itself; see `logoPath`. */
  readonly logo: ClientLogo | undefined;
}

export interface Client {
  readonly applicationId: string;
  readonly clientId: string;
  readonly project: string;
  readonly environment: Environment;
  readonly organization: {
    readonly id: string;
    readonly name: string;
    /** The domain that an owner confirmed, unless it belongs to a public mail provider. */
    readonly domain: string | undefined;
  };
  readonly kind: 'public' | 'confidential';
  readonly name: string;
  /** Compared exactly, character by character. */
  readonly redirectUris: readonly string[];
  /** Compared in the same way. */
  readonly postLogoutRedirectUris: readonly string[];
  /** As registered; see `knownScopes`. */
  readonly scopes: readonly string[];
  readonly grantTypes: readonly string[];
  /** The sector for pairwise ids: the application's own, unless a different sector was registered. */
  readonly sector: string;
  readonly privacyUrl: string | undefined;
  readonly branding: ClientBranding;
  readonly trusted: boolean;
  /** Set only for a guest: a client that nobody registered here, identified by the host of its metadata document. */
  readonly guest?: { readonly host: string };
  /** The keys that the client signs with; never set together with `jwksUri` or secrets. */
  readonly jwks?: PublicKeySet;
  readonly jwksUri?: string;
  /** The secrets that currently work, the current one first; empty for a public client or a client with keys. */
  readonly secrets: readonly ClientSecret[];
}

/** Returns the path of a client's logo on this service. */
export const logoPath = (applicationId: string, { sha256 }: Pick<ClientLogo, 'sha256'>): string =>
  `/oauth/logos/${applicationId}/${sha256}`;

interface Row {
  readonly id: string;
  readonly client_id: string;
  readonly project: string;
  readonly environment: Environment;
  readonly organization: string;
  readonly organization_name: string;
  readonly domain: string | null;
  readonly kind: 'public' | 'confidential';
  readonly name: string;
  readonly redirect_uris: string[];
  readonly post_logout_redirect_uris: string[];
  readonly scopes: string[];
  readonly grant_types: string[];
  readonly sector: string;
  readonly privacy_url: string | null;
  readonly client_uri: string | null;
  readonly tos_uri: string | null;
  readonly color: string | null;
  readonly logo_sha256: string | null;
  readonly logo_type: string | null;
  readonly logo_size: number | null;
  readonly trusted: boolean;
  readonly jwks: string | null;
  readonly jwks_uri: string | null;
  readonly secret_sha256: string | null;
  readonly previous_sha256: string | null;
  /** Microseconds since 1970, by the database's clock; null unless the previous secret still works. */
  readonly previous_until: number | null;
}

// Indexes: unique (client_id) of projects.application, primary keys of project and organization.
const CLIENT = `
  select a.id, a.client_id, a.project, a.environment, p.organization, o.name as organization_name,
    o.confirmed_domain as domain, a.kind, a.name, a.redirect_uris, a.post_logout_redirect_uris, a.scopes, a.grant_types,
    coalesce(a.sector, a.id) as sector, a.privacy_url, a.client_uri, a.tos_uri, a.color,
    a.logo_sha256, a.logo_type, a.logo_size, a.trusted, a.jwks, a.jwks_uri, a.secret_sha256, a.previous_sha256,
    case when a.previous_until > extract(epoch from clock_timestamp()) * 1000000 then a.previous_until end
      as previous_until
  from projects.application a
  join projects.project p on p.id = a.project and p.deleted_at is null
  join projects.organization o on o.id = p.organization
  where a.client_id = $1 and a.deleted_at is null`;

const CLIENT_ID = /^client_[\w-]{1,60}$/;
const stored = z.string().transform((text) => keySetSchema.parse(JSON.parse(text)));

/** Finds a client by its `client_id`; undefined if the id is unknown, or if the client or its project has been deleted. */
export type FindClient = (clientId: string) => Promise<Client | undefined>;

/** Opens the look-up. */
export function openClients(pool: Pool): FindClient {
  return async (clientId) => {
    if (!CLIENT_ID.test(clientId) && !isGuestId(clientId)) return undefined;
    const { rows } = await pool.query<Row>({ name: 'oauth-client', text: CLIENT, values: [clientId] });
    return rows[0] === undefined ? undefined : toClient(rows[0]);
  };
}

function toClient(row: Row): Client {
  const { logo_sha256, logo_type, logo_size, domain } = row;
  const hasLogo = logo_sha256 !== null && logo_type !== null && logo_size !== null;
  return {
    applicationId: row.id,
    clientId: row.client_id,
    project: row.project,
    environment: row.environment,
    organization: {
      id: row.organization,
      name: row.organization_name,
      domain: domain === null || isPublicMailDomain(domain) ? undefined : domain,
    },
    kind: row.kind,
    name: row.name,
    redirectUris: row.redirect_uris,
    postLogoutRedirectUris: row.post_logout_redirect_uris,
    scopes: row.scopes,
    grantTypes: row.grant_types,
    sector: row.sector,
    privacyUrl: row.privacy_url ?? undefined,
    branding: {
      clientUri: row.client_uri ?? undefined,
      tosUri: row.tos_uri ?? undefined,
      color: row.color ?? undefined,
      logo: hasLogo ? { sha256: logo_sha256, contentType: logo_type, size: logo_size } : undefined,
    },
    trusted: row.trusted,
    ...(row.project === GUESTS.project ? { guest: { host: new URL(row.client_id).host } } : {}),
    ...(row.jwks === null ? {} : { jwks: stored.parse(row.jwks) }),
    ...(row.jwks_uri === null ? {} : { jwksUri: row.jwks_uri }),
    secrets: [
      ...(row.secret_sha256 === null ? [] : [{ sha256: row.secret_sha256 }]),
      ...(row.previous_sha256 === null || row.previous_until === null
        ? []
        : [{ sha256: row.previous_sha256, until: Math.floor(row.previous_until / 1_000) }]),
    ],
  };
}
